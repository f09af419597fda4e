// flags:
for (const label of ["utf8", " UTF-8 ", "latin1", "ascii", "sjis", "x-sjis", "ks_c_5601-1987", "gb2312", "chinese", "windows-31j", "koi", "cp866", "l2", "arabic", "hebrew", "greek", "dos-874", "x-user-defined", "x-mac-cyrillic", "utf-16", "big5-hkscs"])
  console.log(label, new TextDecoder(label).encoding);
for (const label of ["utf-7", "utf-32", "", "replacement", "nonsense"]) try { new TextDecoder(label); console.log(label, "known"); } catch (error) { console.log(label, (error as Error).name); }
