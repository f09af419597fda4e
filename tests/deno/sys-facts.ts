// flags: --allow-sys=hostname,osRelease,loadavg,systemMemoryInfo,uid,gid,osUptime
console.log(Deno.hostname());
console.log(Deno.osRelease());
console.log(Deno.uid(), Deno.gid());
console.log(Deno.loadavg().length, Object.keys(Deno.systemMemoryInfo()).sort().join(), Deno.osUptime() > 0);
