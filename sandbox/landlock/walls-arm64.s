// The program that puts Landlock's walls around another one, for arm64: walls-x64.s says all about it, and this one does
// the same, step by step.

        .set LIMIT, 0x100000            // bytes of program and table together

        .set READABLE_RUNNABLE, 5
        .set OPEN_FLAGS, 0x288000       // O_PATH | O_CLOEXEC | O_NOFOLLOW, whose number is another one here
        .set FOLDER_OF_THE_PROCESS, -100
        .set NOT_THERE, 2               // ENOENT
        .set OUT_OF_REACH, 13           // EACCES
        .set PR_SET_NO_NEW_PRIVS, 38
        .set FILE_SIZE, 1               // RLIMIT_FSIZE
        .set RULE_PATH, 1               // LANDLOCK_RULE_PATH_BENEATH
        .set ASK_VERSION, 1             // LANDLOCK_CREATE_RULESET_VERSION

        .set sys_openat, 56
        .set sys_close, 57
        .set sys_write, 64
        .set sys_exit, 93
        .set sys_prctl, 167
        .set sys_execve, 221
        .set sys_prlimit64, 261
        .set sys_create_ruleset, 444
        .set sys_add_rule, 445
        .set sys_restrict_self, 446

        // Offsets in the table: a head of 16 bytes, then what its sum is made of.
        .set LENGTH, 8                  // of all behind the head
        .set SUM, 12
        .set BODY, 16
        .set FILE_LIMIT, 16             // soft and hard limit of a file's size; all ones: left as it is
        .set ATTRIBUTE_SIZE, 32
        .set ATTRIBUTE, 40              // struct landlock_ruleset_attr
        .set RULES, 64

        .text
        .globl _start
file:
        // The head of an ELF file: 64 bits, little endian, an executable for arm64.
        .byte 0x7f, 'E', 'L', 'F', 2, 1, 1, 0
        .quad 0
        .short 2, 183
        .long 1
        .quad _start
        .quad segments - file
        .quad 0
        .long 0
        .short 64, 56, 2, 0, 0, 0
segments:
        // All of the file, readable and runnable. Pages may be of 64 KiB.
        .long 1, READABLE_RUNNABLE
        .quad 0, file, file, LIMIT, LIMIT, 0x10000
        // A stack that cannot be run.
        .long 0x6474e551, 6
        .quad 0, 0, 0, 0, 0, 16

_start:
        mov     x29, sp                 // the count of arguments, the arguments, null, the environment
        sub     sp, sp, #16             // a struct landlock_path_beneath_attr

        // The table is whole: its first word, its length, and its sum (FNV-1a, 32 bits).
        adr     x19, table
        ldr     x0, [x19]
        ldr     x1, first_word
        cmp     x0, x1
        b.ne    bad_table
        ldr     w20, [x19, #LENGTH]
        mov     w0, #LIMIT
        cmp     w20, w0
        b.hi    bad_table
        cmp     w20, #(RULES - BODY)
        b.lo    bad_table
        add     x1, x19, #BODY
        add     x20, x20, x1            // where the table ends
        ldr     w0, sum_begin
        ldr     w3, sum_factor
sum:
        ldrb    w2, [x1], #1
        eor     w0, w0, w2
        mul     w0, w0, w3
        cmp     x1, x20
        b.lo    sum
        ldr     w2, [x19, #SUM]
        cmp     w0, w2
        b.ne    bad_table

        // How large a file it may write, where that is less than what this file takes.
        ldr     x0, [x19, #FILE_LIMIT]
        cmn     x0, #1
        b.eq    make_ruleset
        mov     x0, #0
        mov     x1, #FILE_SIZE
        add     x2, x19, #FILE_LIMIT
        mov     x3, #0
        mov     x8, #sys_prlimit64
        svc     #0
        cbnz    x0, bad_limit

make_ruleset:
        add     x0, x19, #ATTRIBUTE
        ldr     x1, [x19, #ATTRIBUTE_SIZE]
        mov     x2, #0
        mov     x8, #sys_create_ruleset
        svc     #0
        tbnz    x0, #63, bad_ruleset
        mov     x21, x0                 // the ruleset
        add     x22, x19, #RULES        // the next rule: the access that it gives, and to which path

next_rule:
        cmp     x22, x20
        b.hs    restrict
        mov     x0, #FOLDER_OF_THE_PROCESS
        add     x1, x22, #8
        ldr     w2, open_flags
        mov     x3, #0
        mov     x8, #sys_openat
        svc     #0
        cmn     x0, #NOT_THERE
        b.eq    skip_path               // nothing there to be given
        cmn     x0, #OUT_OF_REACH
        b.eq    skip_path               // nor here: who may not get there needs no right to it
        tbnz    x0, #63, bad_path
        mov     x23, x0
        ldr     x0, [x22]
        str     x0, [sp]
        str     w23, [sp, #8]
        mov     x0, x21
        mov     x1, #RULE_PATH
        mov     x2, sp
        mov     x3, #0
        mov     x8, #sys_add_rule
        svc     #0
        cbnz    x0, bad_rule
        mov     x0, x23
        mov     x8, #sys_close
        svc     #0
skip_path:
        add     x22, x22, #8            // the path ends with a zero and is padded to a multiple of 8
to_end_of_path:
        ldrb    w0, [x22], #1
        cbnz    w0, to_end_of_path
        add     x22, x22, #7
        and     x22, x22, #-8
        b       next_rule

restrict:
        mov     x0, #PR_SET_NO_NEW_PRIVS
        mov     x1, #1
        mov     x2, #0
        mov     x3, #0
        mov     x4, #0
        mov     x8, #sys_prctl
        svc     #0
        cbnz    x0, bad_restrict
        mov     x0, x21
        mov     x1, #0
        mov     x8, #sys_restrict_self
        svc     #0
        cbnz    x0, bad_restrict
        mov     x0, x21
        mov     x8, #sys_close
        svc     #0

        ldr     x0, [x29]               // how many arguments there are, our own name among them
        cmp     x0, #2
        b.lo    tell_version
        add     x1, x29, #16            // its arguments begin with its name
        add     x2, x1, x0, lsl #3
        ldr     x0, [x1]
        mov     x8, #sys_execve
        svc     #0
        mov     w20, #246
        adr     x1, no_program
        b       end

tell_version:
        mov     x0, #0
        mov     x1, #0
        mov     x2, #ASK_VERSION
        mov     x8, #sys_create_ruleset
        svc     #0
        mov     x8, #sys_exit
        svc     #0

bad_table:
        mov     w20, #240
        adr     x1, no_table
        b       end
bad_limit:
        mov     w20, #241
        adr     x1, no_limit
        b       end
bad_ruleset:
        mov     w20, #242
        adr     x1, no_ruleset
        b       end
bad_path:
        mov     w20, #243
        adr     x1, no_path
        b       end
bad_rule:
        mov     w20, #244
        adr     x1, no_rule
        b       end
bad_restrict:
        mov     w20, #245
        adr     x1, no_walls
end:
        mov     x0, #2
        mov     x2, #48
        mov     x8, #sys_write
        svc     #0
        mov     w0, w20
        mov     x8, #sys_exit
        svc     #0
        udf     #0

        .balign 8, 0
first_word: .ascii "clwalls1"
sum_begin:  .long 0x811c9dc5
sum_factor: .long 0x01000193
open_flags: .long OPEN_FLAGS
        // 48 bytes each, so that nobody has to count.
no_table:   .ascii "landlock: not started, the table is not whole  \n"
no_limit:   .ascii "landlock: not started, the limit was refused   \n"
no_ruleset: .ascii "landlock: not started, the kernel has no walls \n"
no_path:    .ascii "landlock: not started, a path cannot be opened \n"
no_rule:    .ascii "landlock: not started, a rule was refused      \n"
no_walls:   .ascii "landlock: not started, the walls were refused  \n"
no_program: .ascii "landlock: the program could not be started     \n"
        .balign 16, 0
table:
