// flags: --allow-read=.
const { nlink, size, isBlockDevice, isSocket, isFifo, isCharDevice, rdev, blksize } = await Deno.stat("twice.txt");
console.log(nlink, size, isBlockDevice, isSocket, isFifo, isCharDevice, rdev, blksize);
const same = [await Deno.stat("twice.txt"), await Deno.stat("twice-again.txt")].map(({ ino, dev }) => `${ino} ${dev}`);
console.log(same[0] === same[1], Object.keys(await Deno.lstat("notes.txt")).join());
