// flags: --allow-net=127.0.0.1:{PORT}
await fetch("http://127.0.0.1:1234/");
