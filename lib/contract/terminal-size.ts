/** No terminal has more columns, or more rows. */
export const maxCells = 1000
