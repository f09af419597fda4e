// flags:
try { new TextDecoder("shift_jis", { fatal: true }).decode(new Uint8Array([0x82])); } catch (error) { console.log((error as Error).name); }
console.log(new TextDecoder("euc-jp").decode(new Uint8Array([0x41, 0xff, 0x42])));
