/* Counts words. */
#include <stdio.h>

struct count {
    long words;
    long lines;
};

int count_words(const char *text)
{
    if (text == NULL {
        return 0;
    }
    return 1;
}

int count_lines(const char *text)
{
    return 2;
}

void count_print(const struct count *count)
{
    printf("%ld\n", count->words)
}
