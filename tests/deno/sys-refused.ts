// flags: --allow-sys=hostname
for (const look of [Deno.osRelease, Deno.loadavg, Deno.systemMemoryInfo, Deno.uid, Deno.gid, Deno.osUptime]) {
  try {
    look();
  } catch (error) {
    console.log((error as Error).name);
  }
}
