// flags:
console.log(Deno.build.os, Deno.build.arch, Deno.noColor, typeof Deno.version.deno, typeof Deno.pid);
console.log(Deno.inspect({ a: [1, { b: 2 }] }), Deno.inspect("x"), Deno.inspect(new Map([[1, 2]])));
