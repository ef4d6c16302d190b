/** Rows of a list that one call brings: at most, and unless it says otherwise. */
export const maxPageSize = 5000
export const defaultPageSize = 20
