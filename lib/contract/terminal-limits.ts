/** What a terminal session may be called. */
export const sessionNamePattern = /^[A-Za-z0-9_-]{1,256}$/

/** No terminal has more columns, or more rows. */
export const maxCells = 1000
