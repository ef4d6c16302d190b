export const defaultPageSize = 20
export const maxPageSize = 5000
