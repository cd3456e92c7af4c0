
/* Memory at fixed addresses (x86-64, Linux). Nobody may touch the pages around them: an access stops there, and goes on
 * alone when the next value of the test is in place. No header is used, whose names could be those of a program. */
struct branchwise_register {
    unsigned long address;
    const unsigned char *values;
    unsigned long size, count;
};
struct branchwise_action {
    void (*handler)(int, void *, void *);
    unsigned long blocked[16];
    int flags;
    void (*restorer)(void);
};
extern void *branchwise_map(void *at, unsigned long size, int may, int flags, int file, long offset) __asm__("mmap");
extern int branchwise_unmap(void *at, unsigned long size) __asm__("munmap");
extern int branchwise_protect(void *at, unsigned long size, int may) __asm__("mprotect");
extern int branchwise_on_signal(int number, const struct branchwise_action *action, struct branchwise_action *before) __asm__("sigaction");

enum { BRANCHWISE_REGISTERS = 256, BRANCHWISE_PAGE = 4096, BRANCHWISE_SEGV = 11, BRANCHWISE_TRAP = 5 };
static struct branchwise_register branchwise_registers[BRANCHWISE_REGISTERS];
static unsigned long branchwise_pages[BRANCHWISE_REGISTERS];
static unsigned branchwise_register_count, branchwise_page_count;

static void branchwise_protect_pages(int may)
{
    unsigned i;
    for (i = 0; i < branchwise_page_count; i++)
        branchwise_protect((void *)branchwise_pages[i], BRANCHWISE_PAGE, may);
}

/* What somebody else's access ends with. */
static void branchwise_leave_to_system(int number)
{
    struct branchwise_action usual = {0, {0}, 0, 0};
    branchwise_on_signal(number, &usual, 0);
}

/* Whether an instruction that writes to memory does not read it first. */
static int branchwise_only_writes(const unsigned char *code)
{
    while (*code == 0x66 || *code == 0x67 || *code == 0xf2 || *code == 0xf3 || (*code & 0xe7) == 0x26 || (*code & 0xfe) == 0x64)
        code++;
    if (*code == 0xc4 || *code == 0xc5 || *code == 0x62)
        return 1;
    if ((*code & 0xf0) == 0x40)
        code++;
    if (*code != 0x0f)
        return *code == 0x88 || *code == 0x89 || *code == 0x8c || (*code >= 0xa2 && *code <= 0xa5) || *code == 0xaa || *code == 0xab
            || *code == 0xc6 || *code == 0xc7;
    code++;
    return !((*code & 0xfe) == 0xb0 || (*code & 0xfe) == 0xc0 || *code == 0xab || *code == 0xb3 || *code == 0xbb || *code == 0xba
        || (*code & 0xf6) == 0xa4);
}

/* Behind the last value its bits are turned over each time, so that who waits for one of them does not wait for ever. */
static void branchwise_put_next_value(unsigned long address)
{
    volatile unsigned char *to = (volatile unsigned char *)address;
    const struct branchwise_register *last = 0;
    unsigned i;
    unsigned long byte;
    for (i = 0; i < branchwise_register_count; i++) {
        struct branchwise_register *next = &branchwise_registers[i];
        if (next->address != address)
            continue;
        last = next;
        if (!next->count)
            continue;
        for (byte = 0; byte < next->size; byte++)
            to[byte] = next->values[byte];
        next->values += next->size;
        next->count--;
        return;
    }
    for (byte = 0; last && byte < last->size; byte++)
        to[byte] ^= 0xff;
}

/* The registers of the processor lie in what the system gives: 16 is the next instruction, 17 the flags, 19 what failed. */
static void branchwise_on_access(int number, void *information, void *context)
{
    unsigned long address = ((unsigned long *)information)[2];
    long long *processor = (long long *)((char *)context + 40);
    unsigned i = 0;
    while (i < branchwise_page_count && branchwise_pages[i] != (address & ~(BRANCHWISE_PAGE - 1ul)))
        i++;
    if (i == branchwise_page_count || (processor[19] & 16)) {
        branchwise_leave_to_system(number);
        return;
    }
    branchwise_protect((void *)branchwise_pages[i], BRANCHWISE_PAGE, 3);
    if (!(processor[19] & 2) || !branchwise_only_writes((const unsigned char *)processor[16]))
        branchwise_put_next_value(address);
    processor[17] |= 0x100;
}

static void branchwise_after_access(int number, void *information, void *context)
{
    (void)number, (void)information;
    ((long long *)((char *)context + 40))[17] &= ~0x100ll;
    branchwise_protect_pages(0);
}

static __attribute__((unused)) void branchwise_forget_registers(void)
{
    unsigned i;
    for (i = 0; i < branchwise_page_count; i++)
        branchwise_unmap((void *)branchwise_pages[i], BRANCHWISE_PAGE);
    branchwise_register_count = branchwise_page_count = 0;
    branchwise_leave_to_system(BRANCHWISE_SEGV);
    branchwise_leave_to_system(BRANCHWISE_TRAP);
}

/* Gives the page of an address memory, where nothing else is. */
static void branchwise_map_page(unsigned long address)
{
    struct branchwise_action access = {branchwise_on_access, {0}, 4, 0}, after = {branchwise_after_access, {0}, 4, 0};
    unsigned long page = address & ~(BRANCHWISE_PAGE - 1ul);
    unsigned i;
    for (i = 0; i < branchwise_page_count; i++)
        if (branchwise_pages[i] == page)
            return;
    if (i == BRANCHWISE_REGISTERS || branchwise_map((void *)page, BRANCHWISE_PAGE, 0, 0x100022, -1, 0) != (void *)page)
        branchwise_give_up();
    branchwise_pages[branchwise_page_count++] = page;
    branchwise_on_signal(BRANCHWISE_SEGV, &access, 0);
    branchwise_on_signal(BRANCHWISE_TRAP, &after, 0);
}

/* The values that the next volatile reads at an address get. */
static __attribute__((unused)) void branchwise_register(unsigned long address, const void *values, unsigned long size, unsigned long count)
{
    struct branchwise_register *added = &branchwise_registers[branchwise_register_count];
    branchwise_map_page(address);
    if (!count)
        return;
    if (branchwise_register_count++ == BRANCHWISE_REGISTERS)
        branchwise_give_up();
    added->address = address;
    added->values = (const unsigned char *)values;
    added->size = size;
    added->count = count;
}

/* What stands at an address when the test begins. */
static __attribute__((unused)) void branchwise_memory(unsigned long address, const void *value, unsigned long size)
{
    unsigned long byte;
    branchwise_map_page(address);
    branchwise_protect_pages(3);
    for (byte = 0; byte < size; byte++)
        ((volatile unsigned char *)address)[byte] = ((const unsigned char *)value)[byte];
    branchwise_protect_pages(0);
}
