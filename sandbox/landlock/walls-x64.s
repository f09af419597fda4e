# The program that puts Landlock's walls around another one, for x86-64. See landlock-program.ts for what it is and where
# its bytes are kept, and landlock-table.ts for the table that is written behind them. walls-arm64.s is the same for arm64.
#
#   walls                     exits with the ABI of Landlock that this kernel has, once the table's walls stand
#   walls PROGRAM ARGUMENT…   becomes PROGRAM (an absolute path) behind the table's walls
#
# Whatever goes wrong ends it with a line on stderr and a code of its own: PROGRAM never runs without its walls.
# The whole file is one loadable segment, so that the table is in memory as soon as the program runs. Where the file is
# shorter than the segment, the kernel gives zeros up to the end of the page, and a signal that ends us beyond.

        .intel_syntax noprefix
        .set LIMIT, 0x100000            # bytes of program and table together

        .set READABLE_RUNNABLE, 5
        .set OPEN_FLAGS, 0x2a0000       # O_PATH | O_CLOEXEC | O_NOFOLLOW
        .set FOLDER_OF_THE_PROCESS, -100
        .set NOT_THERE, -2              # ENOENT
        .set OUT_OF_REACH, -13          # EACCES
        .set PR_SET_NO_NEW_PRIVS, 38
        .set FILE_SIZE, 1               # RLIMIT_FSIZE
        .set RULE_PATH, 1               # LANDLOCK_RULE_PATH_BENEATH
        .set ASK_VERSION, 1             # LANDLOCK_CREATE_RULESET_VERSION

        .set sys_write, 1
        .set sys_close, 3
        .set sys_execve, 59
        .set sys_prctl, 157
        .set sys_exit, 60
        .set sys_openat, 257
        .set sys_prlimit64, 302
        .set sys_create_ruleset, 444
        .set sys_add_rule, 445
        .set sys_restrict_self, 446

        # Offsets in the table: a head of 16 bytes, then what its sum is made of.
        .set LENGTH, 8                  # of all behind the head
        .set SUM, 12
        .set BODY, 16
        .set FILE_LIMIT, 16             # soft and hard limit of a file's size; all ones: left as it is
        .set ATTRIBUTE_SIZE, 32
        .set ATTRIBUTE, 40              # struct landlock_ruleset_attr
        .set RULES, 64

        .text
        .globl _start
file:
        # The head of an ELF file: 64 bits, little endian, an executable for x86-64.
        .byte 0x7f, 'E', 'L', 'F', 2, 1, 1, 0
        .quad 0
        .short 2, 62
        .long 1
        .quad _start
        .quad segments - file
        .quad 0
        .long 0
        .short 64, 56, 2, 0, 0, 0
segments:
        # All of the file, readable and runnable.
        .long 1, READABLE_RUNNABLE
        .quad 0, file, file, LIMIT, LIMIT, 0x1000
        # A stack that cannot be run.
        .long 0x6474e551, 6
        .quad 0, 0, 0, 0, 0, 16

_start:
        mov     rbp, rsp                # the count of arguments, the arguments, null, the environment
        sub     rsp, 16                 # a struct landlock_path_beneath_attr

        # The table is whole: its first word, its length, and its sum (FNV-1a, 32 bits).
        lea     r12, [rip + table]
        mov     rax, 0x31736c6c61776c63 # "clwalls1"
        cmp     [r12], rax
        jne     bad_table
        mov     r13d, [r12 + LENGTH]
        cmp     r13d, LIMIT
        ja      bad_table
        cmp     r13d, RULES - BODY
        jb      bad_table
        lea     rsi, [r12 + BODY]
        add     r13, rsi                # where the table ends
        mov     eax, 0x811c9dc5
sum:
        movzx   edx, byte ptr [rsi]
        xor     eax, edx
        imul    eax, eax, 0x01000193
        inc     rsi
        cmp     rsi, r13
        jb      sum
        cmp     eax, [r12 + SUM]
        jne     bad_table

        # How large a file it may write, where that is less than what this file takes.
        cmp     qword ptr [r12 + FILE_LIMIT], -1
        je      make_ruleset
        xor     edi, edi
        mov     esi, FILE_SIZE
        lea     rdx, [r12 + FILE_LIMIT]
        xor     r10d, r10d
        mov     eax, sys_prlimit64
        syscall
        test    rax, rax
        jnz     bad_limit

make_ruleset:
        lea     rdi, [r12 + ATTRIBUTE]
        mov     rsi, [r12 + ATTRIBUTE_SIZE]
        xor     edx, edx
        mov     eax, sys_create_ruleset
        syscall
        test    rax, rax
        js      bad_ruleset
        mov     r14, rax                # the ruleset
        lea     rbx, [r12 + RULES]      # the next rule: the access that it gives, and to which path

next_rule:
        cmp     rbx, r13
        jae     restrict
        mov     rdi, FOLDER_OF_THE_PROCESS
        lea     rsi, [rbx + 8]
        mov     edx, OPEN_FLAGS
        xor     r10d, r10d
        mov     eax, sys_openat
        syscall
        cmp     rax, NOT_THERE
        je      skip_path               # nothing there to be given
        cmp     rax, OUT_OF_REACH
        je      skip_path               # nor here: who may not get there needs no right to it
        test    rax, rax
        js      bad_path
        mov     r15, rax
        mov     rax, [rbx]
        mov     [rsp], rax
        mov     [rsp + 8], r15d
        mov     rdi, r14
        mov     esi, RULE_PATH
        mov     rdx, rsp
        xor     r10d, r10d
        mov     eax, sys_add_rule
        syscall
        test    rax, rax
        jnz     bad_rule
        mov     rdi, r15
        mov     eax, sys_close
        syscall
skip_path:
        add     rbx, 8                  # the path ends with a zero and is padded to a multiple of 8
to_end_of_path:
        inc     rbx
        cmp     byte ptr [rbx - 1], 0
        jne     to_end_of_path
        add     rbx, 7
        and     rbx, -8
        jmp     next_rule

restrict:
        mov     edi, PR_SET_NO_NEW_PRIVS
        mov     esi, 1
        xor     edx, edx
        xor     r10d, r10d
        xor     r8d, r8d
        mov     eax, sys_prctl
        syscall
        test    rax, rax
        jnz     bad_restrict
        mov     rdi, r14
        xor     esi, esi
        mov     eax, sys_restrict_self
        syscall
        test    rax, rax
        jnz     bad_restrict
        mov     rdi, r14
        mov     eax, sys_close
        syscall

        mov     rax, [rbp]              # how many arguments there are, our own name among them
        cmp     rax, 2
        jb      tell_version
        lea     rsi, [rbp + 16]         # its arguments begin with its name
        mov     rdi, [rsi]
        lea     rdx, [rbp + 16 + rax * 8]
        mov     eax, sys_execve
        syscall
        mov     r13d, 246
        lea     rsi, [rip + no_program]
        jmp     end

tell_version:
        xor     edi, edi
        xor     esi, esi
        mov     edx, ASK_VERSION
        mov     eax, sys_create_ruleset
        syscall
        mov     edi, eax
        mov     eax, sys_exit
        syscall

bad_table:
        mov     r13d, 240
        lea     rsi, [rip + no_table]
        jmp     end
bad_limit:
        mov     r13d, 241
        lea     rsi, [rip + no_limit]
        jmp     end
bad_ruleset:
        mov     r13d, 242
        lea     rsi, [rip + no_ruleset]
        jmp     end
bad_path:
        mov     r13d, 243
        lea     rsi, [rip + no_path]
        jmp     end
bad_rule:
        mov     r13d, 244
        lea     rsi, [rip + no_rule]
        jmp     end
bad_restrict:
        mov     r13d, 245
        lea     rsi, [rip + no_walls]
end:
        mov     edi, 2
        mov     edx, 48
        mov     eax, sys_write
        syscall
        mov     edi, r13d
        mov     eax, sys_exit
        syscall
        ud2

        # 48 bytes each, so that nobody has to count.
no_table:   .ascii "landlock: not started, the table is not whole  \n"
no_limit:   .ascii "landlock: not started, the limit was refused   \n"
no_ruleset: .ascii "landlock: not started, the kernel has no walls \n"
no_path:    .ascii "landlock: not started, a path cannot be opened \n"
no_rule:    .ascii "landlock: not started, a rule was refused      \n"
no_walls:   .ascii "landlock: not started, the walls were refused  \n"
no_program: .ascii "landlock: the program could not be started     \n"
        .balign 16, 0
table:
