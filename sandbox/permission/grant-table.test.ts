import { describe, expect, test } from "vitest";
import { check } from "./grant.ts";
import { type Grant, type Permission, type PermissionKind, parsePermission } from "./permission.ts";

/*
 * One case a line: what is allowed | what is denied | what is asked for | the verdict. Requests are not parsed as the
 * language is: they stand for what code asks for, which may be anything. "open" is granted, "shut" is not granted,
 * "denied" names the deny that beat it, "malformed" is no request at all.
 */
const TABLES: Readonly<Record<string, string>> = {
  "a folder means all in it, and whole components only": `
    read=/a                  |               | read /a                | open
    read=/a                  |               | read /a/               | open
    read=/a                  |               | read /a/b              | open
    read=/a                  |               | read /a/b/c/d/e/f      | open
    read=/a                  |               | read /a/.              | open
    read=/a                  |               | read /a/./b            | open
    read=/a                  |               | read //a//b            | open
    read=/a                  |               | read /a/b/../c         | open
    read=/a                  |               | read /b/../a           | open
    read=/a                  |               | read /a/...            | open
    read=/a                  |               | read /a/..b            | open
    read=/a                  |               | read /a/b c            | open
    read=/a                  |               | read /a/ü              | open
    read=/a                  |               | read /a/*              | open
    read=/a                  |               | read /a/~              | open
    read=/a                  |               | read /a-evil           | shut
    read=/a                  |               | read /a.txt            | shut
    read=/a                  |               | read /ab               | shut
    read=/a                  |               | read /A                | shut
    read=/a                  |               | read /                 | shut
    read=/a                  |               | read /..               | shut
    read=/a                  |               | read /a/..             | shut
    read=/a                  |               | read /a/../b           | shut
    read=/a                  |               | read /a/b/../../c      | shut
    read=/a                  |               | read /a/../../a-evil   | shut
    read=/a                  |               | read /b                | shut
    read=/a                  |               | read /b/a              | shut
    read=/a                  |               | read                   | shut
    read=/a/b                |               | read /a                | shut
    read=/a/b                |               | read /a/b              | open
    read=/a/b                |               | read /a/bc             | shut
    read=/a/b                |               | read /a/b/c            | open
    read=/a/b                |               | read /a/c/../b/x       | open
    read=/a,/b               |               | read /a/x              | open
    read=/a,/b               |               | read /b/x              | open
    read=/a,/b               |               | read /c/x              | shut
    read=/a read=/b          |               | read /b/x              | open
    read=./src               |               | read /base/src/x       | open
    read=./src               |               | read /base/src-old     | shut
    read=src                 |               | read /base/src         | open
    read=../x                |               | read /x/y              | open
    read=.                   |               | read /base/x           | open
    read=.                   |               | read /                 | shut
    read=~                   |               | read /home/me/x        | open
    read=~/notes             |               | read /home/me/notes    | open
    read=~/notes             |               | read /home/me          | shut
    read=/a\\,b              |               | read /a,b              | open
    read=/a\\,b              |               | read /a                | shut
    read=/a\\*               |               | read /a*               | open
    read=/a\\*               |               | read /ab               | shut
    read=/                   |               | read /                 | open
    read=/                   |               | read /etc/passwd       | open
    read=/                   |               | read                   | shut
    read                     |               | read /etc/passwd       | open
    read                     |               | read                   | open`,

  "reading is not writing": `
    read=/a                  |               | write /a               | shut
    read                     |               | write /a               | shut
    read                     |               | write                  | shut
    write=/a                 |               | read /a                | shut
    write=/a                 |               | write /a               | open
    write=/a                 |               | write /a/b             | open
    write=/a                 |               | write /ab              | shut
    write=/a                 |               | write /a/../b          | shut
    write                    |               | write /x               | open
    write                    |               | write                  | open
    write                    |               | read /x                | shut
    write=/a                 |               | write                  | shut
    read=/a write=/b         |               | read /b                | shut
    read=/a write=/b         |               | write /a               | shut
    read=/a write=/a         |               | write /a/x             | open
    write=/a                 | write=/a/.git | write /a/.git          | denied
    write=/a                 | write=/a/.git | write /a/.git/hooks    | denied
    write=/a                 | write=/a/.git | write /a/.gitignore    | open
    write=/a                 | write=/a/.git | write /a               | open
    write                    | write=/etc    | write /etc/passwd      | denied
    write                    | write=/etc    | write /tmp/x           | open
    write                    | write=/etc    | write                  | denied
    write                    | read=/etc     | write /etc/x           | open
    read                     | write=/etc    | read /etc/x            | open`,

  "what no flag could name is malformed, whatever is granted": `
    read=/a                  |               | read a                 | malformed
    read                     |               | read a                 | malformed
    read                     |               | read ./a               | malformed
    read                     |               | read ../a              | malformed
    read                     |               | read ~                 | malformed
    read                     |               | read file:///a         | malformed
    read                     |               | read C:\\a             | malformed
    read                     |               | read \\\\srv\\share    | malformed
    write                    |               | write a                | malformed
    read=/a                  |               | read /a\0              | malformed
    read=/a                  |               | read /a\0/../../b      | malformed
    read                     |               | read \0                | malformed
    write=/a                 |               | write /a\0.txt         | malformed
    net                      |               | net example.com:0      | malformed
    net                      |               | net a,b                | malformed
    env                      |               | env A,B                | malformed
    env                      |               | env A=B                | malformed
    env                      |               | env *                  | malformed
    run                      |               | run sh,ls              | malformed
    run                      |               | run ls -l              | malformed
    sys                      |               | sys networkInterfaces  | malformed
    tool                     |               | tool read,shell        | malformed
    tool                     |               | tool read shell        | malformed
    memory                   |               | memory all             | malformed
    memory                   |               | memory read:a,write    | malformed`,

  "deny beats allow, however the two lie": `
    read=/a                  | read=/a       | read /a                | denied
    read=/a                  | read=/a       | read /a/b              | denied
    read=/a                  | read=/a/b     | read /a                | open
    read=/a                  | read=/a/b     | read /a/b              | denied
    read=/a                  | read=/a/b     | read /a/b/c            | denied
    read=/a                  | read=/a/b     | read /a/bc             | open
    read=/a                  | read=/a/b     | read /a/c              | open
    read=/a                  | read=/a/b     | read /a/c/../b         | denied
    read=/a/b                | read=/a       | read /a/b              | denied
    read=/a/b                | read=/a       | read /a/b/c            | denied
    read=/a/b                | read=/a       | read /c                | shut
    read=/a                  | read          | read /a                | denied
    read=/a                  | read          | read /b                | denied
    read=/a                  | read          | read                   | denied
    read                     | read=/a       | read /a                | denied
    read                     | read=/a       | read /b                | open
    read                     | read=/a       | read                   | denied
    read                     | read=/        | read /x                | denied
    read                     | read=/a,/b    | read /b/c              | denied
    read                     | read          | read /x                | denied
    read=/a/b/c              | read=/a/b     | read /a/b/c            | denied
    read=/a read=/a/b/c      | read=/a/b     | read /a/b/c            | denied
    read=/a                  | write=/a      | read /a                | open
    read=/a                  | write         | read /a                | open
    read=/a                  | read=/b       | read /a                | open
                             | read=/a       | read /a                | denied
                             | read=/a       | read /b                | shut
                             | read=/a/b     | read /a                | shut
                             |               | read /a                | shut
                             |               | read                   | shut`,

  "hosts by name": `
    net=example.com          |               | net example.com        | open
    net=example.com          |               | net example.com:1      | open
    net=example.com          |               | net example.com:65535  | open
    net=example.com          |               | net EXAMPLE.com:80     | open
    net=example.com          |               | net example.com.:80    | open
    net=example.com          |               | net ｅxample.com:80     | open
    net=example.com          |               | net example.com..:80   | malformed
    net=example.com          |               | net www.example.com:80 | shut
    net=example.com          |               | net example.com.evil.x | shut
    net=example.com          |               | net evil-example.com   | shut
    net=example.com          |               | net example.org        | shut
    net=example.com          |               | net com                | shut
    net=example.com          |               | net                    | shut
    net=EXAMPLE.COM.         |               | net example.com        | open
    net=bücher.example       |               | net xn--bcher-kva.example | open
    net=xn--bcher-kva.example |              | net BÜCHER.example:80  | open
    net=a.com,b.com          |               | net b.com:80           | open
    net=a.com,b.com          |               | net c.com:80           | shut
    net=example.com:443      |               | net example.com:443    | open
    net=example.com:443      |               | net example.com.:443   | open
    net=example.com:443      |               | net example.com:80     | shut
    net=example.com:443      |               | net example.com        | shut
    net=example.com:443      |               | net www.example.com:443 | shut
    net=example.com:443,example.com:80 |     | net example.com:80     | open
    net=example.com:443,example.com:80 |     | net example.com:81     | shut
    net                      |               | net example.com:80     | open
    net                      |               | net example.com        | open
    net                      |               | net                    | open
    net                      |               | net a/b                | malformed
    net                      |               | net a b                | malformed
    net                      |               | net a@b                | malformed
    net                      |               | net a?b                | malformed
    net                      |               | net a#b                | malformed
    net                      |               | net a%41b              | malformed
    net                      |               | net a\\b               | malformed
    net                      |               | net a*b                | malformed
    net                      |               | net *                  | malformed
    net                      |               | net http://a           | malformed`,

  "a wildcard means the name and all below it": `
    net=*.example.com        |               | net example.com:80     | open
    net=*.example.com        |               | net a.example.com:80   | open
    net=*.example.com        |               | net A.EXAMPLE.COM.:80  | open
    net=*.example.com        |               | net a.b.c.example.com  | open
    net=*.example.com        |               | net *.example.com      | open
    net=*.example.com        |               | net *.a.example.com    | open
    net=*.example.com        |               | net *.com              | malformed
    net=*.example.com        |               | net evilexample.com    | shut
    net=*.example.com        |               | net evil-example.com   | shut
    net=*.example.com        |               | net example.com.evil.x | shut
    net=*.example.com        |               | net com                | shut
    net=*.example.com        |               | net                    | shut
    net=*.example.com:443    |               | net a.example.com:443  | open
    net=*.example.com:443    |               | net a.example.com:80   | shut
    net=*.example.com:443    |               | net a.example.com      | shut
    net=*.a.example.com      |               | net example.com        | shut
    net=*.a.example.com      |               | net a.example.com      | open
    net=*.a.example.com      |               | net b.a.example.com    | open`,

  "numbers are one address, however they are written": `
    net=127.0.0.1            |               | net 127.0.0.1:80       | open
    net=127.0.0.1            |               | net 2130706433:80      | open
    net=127.0.0.1            |               | net 0x7f000001:80      | open
    net=127.0.0.1            |               | net 0x7f.0.0.1:80      | open
    net=127.0.0.1            |               | net 0177.0.0.1:80      | open
    net=127.0.0.1            |               | net 127.1:80           | open
    net=127.0.0.1            |               | net 127.0.1:80         | open
    net=127.0.0.1            |               | net 127.0.0.1.:80      | open
    net=127.0.0.1            |               | net １２７.0.0.1:80      | open
    net=127.0.0.1            |               | net [::ffff:127.0.0.1]:80 | open
    net=127.0.0.1            |               | net [::ffff:7f00:1]:80 | open
    net=127.0.0.1            |               | net 127.0.0.2:80       | shut
    net=127.0.0.1            |               | net 127.2:80           | shut
    net=127.0.0.1            |               | net 10.0.0.1:80        | shut
    net=127.0.0.1            |               | net localhost:80       | shut
    net=127.0.0.1            |               | net [::1]:80           | shut
    net=2130706433           |               | net 127.0.0.1:80       | open
    net=0x7f.1               |               | net 127.0.0.1:80       | open
    net=127.0.0.1:80         |               | net 0x7f.1:80          | open
    net=127.0.0.1:80         |               | net 127.0.0.1:81       | shut
    net=[::1]                |               | net [::1]:80           | open
    net=[::1]                |               | net [0:0:0:0:0:0:0:1]  | open
    net=[::1]                |               | net [0000::0001]:80    | open
    net=[::1]                |               | net [::2]:80           | shut
    net=[::1]:80             |               | net [::1]:80           | open
    net=[::1]:80             |               | net [::1]:81           | shut
    net=[2001:4860::8888]    |               | net [2001:4860:0::8888] | open
    net=[2001:4860::ABCD]    |               | net [2001:4860::abcd]  | open
    net=[::ffff:10.0.0.1]    |               | net 10.0.0.1:80        | open
    net=1.2.3.4              |               | net 1.2.3.4.example.com | shut
    net                      | net=127.0.0.1 | net 0177.0.0.1:80      | denied
    net                      | net=127.0.0.1 | net 2130706433:80      | denied
    net=127.0.0.0/8          | net=127.0.0.1 | net 127.1:80           | denied
    net=127.0.0.0/8          | net=127.0.0.1 | net [::ffff:7f00:1]:80 | denied
    net                      |               | net 256.0.0.1          | malformed
    net                      |               | net 1.2.3.4.5          | malformed
    net                      |               | net [::1               | malformed
    net                      |               | net [::g]              | malformed
    net                      |               | net [fe80::1%25eth0]   | malformed`,

  networks: `
    net=10.0.0.0/8           |               | net 10.0.0.0:80        | open
    net=10.0.0.0/8           |               | net 10.255.255.255:80  | open
    net=10.0.0.0/8           |               | net 0xa.1.2.3:80       | open
    net=10.0.0.0/8           |               | net 11.0.0.0:80        | shut
    net=10.0.0.0/8           |               | net 9.255.255.255:80   | shut
    net=10.0.0.0/8           |               | net 10.0.0.0/8         | open
    net=10.0.0.0/8           |               | net 10.2.0.0/16        | open
    net=10.0.0.0/8           |               | net 10.0.0.0/7         | shut
    net=10.0.0.0/8           |               | net                    | shut
    net=10.0.0.0/8           |               | net intranet.example   | shut
    net=10.9.8.7/8           |               | net 10.1.1.1:80        | open
    net=10.0.0.0/8:443       |               | net 10.1.1.1:443       | open
    net=10.0.0.0/8:443       |               | net 10.1.1.1:80        | shut
    net=10.0.0.0/8:443       |               | net 10.1.1.1           | shut
    net=10.0.0.1/32          |               | net 10.0.0.1:80        | open
    net=10.0.0.1/32          |               | net 10.0.0.2:80        | shut
    net=192.168.1.0/24       |               | net 192.168.1.77:80    | open
    net=192.168.1.0/24       |               | net 192.168.2.77:80    | shut
    net=192.168.1.0/25       |               | net 192.168.1.127:80   | open
    net=192.168.1.0/25       |               | net 192.168.1.128:80   | shut
    net=172.16.0.0/12        |               | net 172.31.0.1:80      | open
    net=172.16.0.0/12        |               | net 172.32.0.1:80      | shut
    net=0.0.0.0/0            |               | net 1.2.3.4:80         | open
    net=0.0.0.0/0            |               | net 127.0.0.1:80       | open
    net=0.0.0.0/0            |               | net [::1]:80           | shut
    net=0.0.0.0/0            |               | net example.com:80     | shut
    net=[fc00::]/7           |               | net [fd12::1]:80       | open
    net=[fc00::]/7           |               | net [fe00::1]:80       | shut
    net=[fc00::]/7:443       |               | net [fd12::1]:443      | open
    net=[fc00::]/7:443       |               | net [fd12::1]:80       | shut
    net=[fe80::]/10          |               | net [fe80::1]:80       | open
    net=[2000::]/3           |               | net [2606:4700::1]:80  | open
    net=[::]/0               |               | net [2606:4700::1]:80  | open
    net=[::]/0               |               | net 1.2.3.4:80         | shut
    net                      | net=10.0.0.0/8 | net 10.1.2.3:80       | denied
    net                      | net=10.0.0.0/8 | net 1.2.3.4:80        | open
    net                      | net=10.0.0.0/8 | net                   | denied
    net=10.0.0.0/8           | net=10.1.0.0/16 | net 10.1.2.3:80      | denied
    net=10.0.0.0/8           | net=10.1.0.0/16 | net 10.2.2.3:80      | open
    net=10.0.0.0/8           | net=10.1.0.0/16 | net 10.0.0.0/8       | denied
    net=10.0.0.0/8           | net=10.1.0.0/16:80 | net 10.1.2.3:443  | open
    net=10.1.0.0/16          | net=10.0.0.0/8 | net 10.1.2.3:80       | denied`,

  "all of net, and every name, leave what is not public shut": `
    net                      |               | net 1.1.1.1:80         | open
    net                      |               | net [2606:4700::1]:80  | open
    net                      |               | net localhost:80       | shut
    net                      |               | net LOCALHOST.:80      | shut
    net                      |               | net a.localhost:80     | shut
    net                      |               | net 127.0.0.1:80       | shut
    net                      |               | net 127.9.9.9:80       | shut
    net                      |               | net 0.0.0.0:80         | shut
    net                      |               | net 0:80               | shut
    net                      |               | net 10.0.0.1:80        | shut
    net                      |               | net 100.64.0.1:80      | shut
    net                      |               | net 169.254.169.254:80 | shut
    net                      |               | net 2852039166:80      | shut
    net                      |               | net 172.16.0.1:80      | shut
    net                      |               | net 172.15.0.1:80      | open
    net                      |               | net 192.168.0.1:80     | shut
    net                      |               | net 224.0.0.1:80       | shut
    net                      |               | net 255.255.255.255:80 | shut
    net                      |               | net [::]:80            | shut
    net                      |               | net [::1]:80           | shut
    net                      |               | net [fe80::1]:80       | shut
    net                      |               | net [fd00::1]:80       | shut
    net                      |               | net [ff02::1]:80       | shut
    net                      |               | net [::ffff:10.0.0.1]:80 | shut
    net                      |               | net [::7f00:1]:80      | shut
    net                      |               | net [64:ff9b::7f00:1]:80 | shut
    net                      |               | net [64:ff9b::101:101]:80 | open
    net                      |               | net [2002:7f00:1::]:80 | shut
    net                      |               | net [2002:a00:1::1]:80 | shut
    net                      |               | net [::ffff:0:7f00:1]:80 | shut
    net                      |               | net 10.0.0.0/8         | shut
    net                      |               | net 0.0.0.0/0          | shut
    net                      |               | net 1.1.1.0/24         | open
    net=localhost            |               | net localhost:80       | open
    net=localhost            |               | net a.localhost:80     | shut
    net=localhost            |               | net 127.0.0.1:80       | shut
    net=*.localhost          |               | net localhost:80       | open
    net=*.localhost          |               | net a.localhost:80     | open
    net=10.0.0.0/8           |               | net [64:ff9b::a00:1]:80 | open
    net=10.0.0.1             |               | net [2002:a00:1::5]:80 | open
    net=[64:ff9b::]/96       |               | net [64:ff9b::a00:1]:80 | shut
    net=[64:ff9b::]/96       |               | net [64:ff9b::101:101]:80 | open
    net=[64:ff9b::a00:1]     |               | net [64:ff9b::a00:1]:80 | open
    net=[::]/0               |               | net [::7f00:1]:80      | shut
    net                      | net=1.1.1.1   | net [64:ff9b::101:101]:80 | denied
    net                      | net=1.1.1.0/24 | net [2002:101:101::1]:80 | denied`,

  "ports of a denied host": `
    net                      | net=a.com:25  | net a.com:25           | denied
    net                      | net=a.com:25  | net a.com:80           | open
    net                      | net=a.com:25  | net a.com              | denied
    net                      | net=a.com:25  | net b.com:25           | open
    net                      | net=a.com:25  | net                    | denied
    net=a.com:25             | net=a.com     | net a.com:25           | denied
    net=*.a.com              | net=x.a.com   | net x.a.com:80         | denied
    net=*.a.com              | net=x.a.com   | net y.x.a.com:80       | open
    net=*.a.com              | net=*.x.a.com | net y.x.a.com:80       | denied
    net=*.a.com              | net=x.a.com   | net *.a.com            | denied
    net=x.a.com              | net=*.a.com   | net x.a.com:80         | denied
    net=x.a.com              | net           | net x.a.com:80         | denied
    net=x.a.com              | net=b.com     | net x.a.com:80         | open`,

  variables: `
    env=HOME                 |               | env HOME               | open
    env=HOME                 |               | env home               | shut
    env=HOME                 |               | env HOMEPAGE           | shut
    env=HOME                 |               | env HOM                | shut
    env=HOME                 |               | env                    | shut
    env=HOME,PATH            |               | env PATH               | open
    env=APP_*                |               | env APP_               | open
    env=APP_*                |               | env APP_X              | open
    env=APP_*                |               | env APP_*              | open
    env=APP_*                |               | env APP_X*             | open
    env=APP_*                |               | env APP                | shut
    env=APP_*                |               | env app_x              | shut
    env=APP_*                |               | env MY_APP_X           | shut
    env=APP_*                |               | env                    | shut
    env                      |               | env ANY                | open
    env                      |               | env                    | open
    env                      | env=APP_*     | env APP_X              | denied
    env                      | env=APP_*     | env HOME               | open
    env                      | env=APP_*     | env                    | denied
    env                      | env=APP_X     | env APP_*              | denied
    env=APP_*                | env=APP_X     | env APP_X              | denied
    env=APP_*                | env=APP_X     | env APP_Y              | open
    env=APP_X                | env=APP_*     | env APP_X              | denied
    env=APP_X                | env           | env APP_X              | denied`,

  "variables that hold secrets need their own name": `
    env                      |               | env API_KEY            | shut
    env                      |               | env GITHUB_TOKEN       | shut
    env                      |               | env DB_PASSWORD        | shut
    env                      |               | env CLIENT_SECRET      | shut
    env                      |               | env TOKEN              | shut
    env                      |               | env api_key            | shut
    env                      |               | env KEYBOARD           | open
    env                      |               | env MONKEY             | open
    env                      |               | env TOKEN_COUNT        | open
    env=APP_*                |               | env APP_KEY            | shut
    env=APP_*                |               | env APP_KEYS           | open
    env=API_KEY              |               | env API_KEY            | open
    env=API_KEY              |               | env APP_KEY            | shut
    env=API_KEY              | env=API_*     | env API_KEY            | denied
    env=API_KEY              | env           | env API_KEY            | denied`,

  programs: `
    run=git                  |               | run git                | open
    run=git                  |               | run git2               | shut
    run=git                  |               | run Git                | shut
    run=git                  |               | run /usr/bin/git       | shut
    run=git                  |               | run /tmp/git           | shut
    run=git                  |               | run ./git              | malformed
    run=git                  |               | run                    | shut
    run=git,ls               |               | run ls                 | open
    run=/usr/bin/git         |               | run /usr/bin/git       | open
    run=/usr/bin/git         |               | run git                | shut
    run=/usr/bin             |               | run /usr/bin/git       | shut
    run=./bin/tool           |               | run /base/bin/tool     | open
    run                      |               | run anything           | open
    run                      |               | run                    | open
    run                      | run=rm        | run rm                 | denied
    run                      | run=rm        | run ls                 | open
    run                      | run=rm        | run                    | denied
    run=rm                   | run           | run rm                 | denied
    run=rm                   | run=rm        | run rm                 | denied`,

  "facts about the machine": `
    sys=hostname             |               | sys hostname           | open
    sys=hostname             |               | sys cpus               | shut
    sys=hostname             |               | sys                    | shut
    sys=hostname,cpus        |               | sys cpus               | open
    sys                      |               | sys uid                | open
    sys                      |               | sys                    | open
    sys                      | sys=uid       | sys uid                | denied
    sys                      | sys=uid       | sys gid                | open
    sys                      | sys=uid       | sys                    | denied
    sys=uid                  | sys           | sys uid                | denied`,

  tools: `
    tool=read                |               | tool read              | open
    tool=read                |               | tool readme            | shut
    tool=read                |               | tool Read              | shut
    tool=read                |               | tool                   | shut
    tool=mcp_files_*         |               | tool mcp_files_get     | open
    tool=mcp_files_*         |               | tool mcp_shell_run     | shut
    tool=mcp_*               | tool=mcp_shell_* | tool mcp_shell_run  | denied
    tool=mcp_*               | tool=mcp_shell_* | tool mcp_files_get  | open
    tool                     |               | tool anything          | open
    tool                     | tool=shell    | tool shell             | denied
    tool                     | tool=shell    | tool read              | open
    tool=shell               | tool          | tool shell             | denied`,

  memory: `
    memory=read              |               | memory read            | open
    memory=read              |               | memory query           | open
    memory=read              |               | memory read:notes      | open
    memory=read              |               | memory write           | shut
    memory=read              |               | memory                 | shut
    memory=query             |               | memory query           | open
    memory=query             |               | memory read            | shut
    memory=write             |               | memory write           | open
    memory=write             |               | memory read            | shut
    memory=write             |               | memory query           | shut
    memory=read:notes        |               | memory read:notes      | open
    memory=read:notes        |               | memory query:notes     | open
    memory=read:notes        |               | memory read:notes2     | shut
    memory=read:notes        |               | memory read            | shut
    memory=read:notes*       |               | memory read:notes/a    | open
    memory=read:notes*       |               | memory read:note       | shut
    memory=read:a,write:b    |               | memory write:b         | open
    memory=read:a,write:b    |               | memory write:a         | shut
    memory                   |               | memory write:x         | open
    memory                   |               | memory                 | open
    memory                   | memory=write  | memory write:x         | denied
    memory                   | memory=write  | memory read            | open
    memory                   | memory=write:x | memory write          | denied
    memory                   | memory=write:x | memory write:y        | open
    memory                   | memory=read   | memory query           | denied
    memory=read              | memory=query:x | memory read:x         | denied
    memory                   | memory=read:x | memory query           | denied
    memory=read              | memory=read:x | memory query:y         | open
    memory                   | memory=write:x | memory query          | open`,

  "one kind opens no other": `
    read                     |               | net example.com:80     | shut
    read                     |               | env HOME               | shut
    read                     |               | run ls                 | shut
    read                     |               | sys uid                | shut
    read                     |               | tool read              | shut
    read                     |               | memory read            | shut
    net                      |               | read /a                | shut
    env                      |               | sys hostname           | shut
    run                      |               | tool shell             | shut
    run                      |               | read /bin/ls           | shut
    tool                     |               | run ls                 | shut
    sys                      |               | env USER               | shut
    memory                   |               | tool memory_search     | shut
    tool=read                |               | read /a                | shut`,
};

type Case = { readonly allow: string; readonly deny: string; readonly request: string; readonly verdict: string };

function casesOf(table: string): Case[] {
  return table
    .trim()
    .split("\n")
    .map((line) => {
      const [allow = "", deny = "", request = "", verdict = ""] = line.split(" | ").map((cell) => cell.trim());
      return { allow, deny, request, verdict };
    });
}

function parseAll(texts: string): Permission[] {
  return texts.split(/ +/).flatMap((text) => {
    if (text === "") return [];
    const parsed = parsePermission(text, "/base", "/home/me");
    if (!parsed.ok) throw new Error(parsed.message);
    return parsed.value;
  });
}

/** A request as code makes it, unread by the parser of the language. */
function requestOf(text: string): Permission {
  const [word = "", ...rest] = text.split(" ");
  const kind = word as PermissionKind;
  const value = rest.join(" ");
  if (value === "") return { kind };
  switch (kind) {
    case "read":
    case "write":
      return { kind, path: value };
    case "net": {
      const [, host = "", port] = /^(\[.*\]|.*?)(?::(\d+))?$/.exec(value) ?? [];
      return { kind, host, ...(port === undefined ? {} : { port: Number(port) }) };
    }
    case "run":
      return { kind, program: value };
    case "sys":
      return { kind, api: value };
    case "env":
    case "tool":
      return { kind, name: value };
    case "memory": {
      const [access, namespace] = value.split(":");
      return { kind, access: access as "read", ...(namespace === undefined ? {} : { namespace }) };
    }
  }
}

function verdictOf(grant: Grant, request: Permission): string {
  const judged = check(grant, request);
  if (judged.ok) return "open";
  if (judged.message.endsWith(" is denied")) return "denied";
  return judged.message.endsWith(" is malformed") ? "malformed" : "shut";
}

describe.each(Object.entries(TABLES))("%s", (_, table) => {
  test.each(casesOf(table))(
    "allow [$allow] deny [$deny]: $request is $verdict",
    ({ allow, deny, request, verdict }) => {
      expect(verdictOf({ allow: parseAll(allow), deny: parseAll(deny) }, requestOf(request))).toBe(verdict);
    },
  );
});

test("the table has at least 400 cases", () => {
  expect(Object.values(TABLES).flatMap(casesOf).length).toBeGreaterThanOrEqual(400);
});
