/**
 * @file
 * Reads and writes pages of a file.
 */
#pragma once

#include <stdint.h>

#define PAGE_SIZE 4096
#define PAGE_OF(offset) ((offset) / PAGE_SIZE)
#define PAGE_EACH(page, list) \
    for (page = (list)->first; page; page = page->next)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct page page;
struct cache;

/** A page in memory. */
struct page {
    uint32_t number;   /**< its number */
    struct page *next;
    uint8_t data[PAGE_SIZE];
};

/** Opens a file. Gives 0 or an error. */
PAGE_API int page_open(const char *path, struct cache **cache);
extern page *page_read(struct cache *cache, uint32_t number);
void page_release(page *page);

/** How many bytes a page has in use. */
static inline uint32_t page_used(const page *page) { return page->number; }

#ifdef __cplusplus
}
#endif
