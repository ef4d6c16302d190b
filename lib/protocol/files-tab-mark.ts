/** A shell comment that marks commands of the Files tab, so that logs can hide them. */
const mark = '# Read by the Files tab of Devdeck\n'

export const markAsFilesTab = (command: string): string => mark + command

export const isFilesTabCommand = (command: string | null | undefined): boolean => command?.startsWith(mark) ?? false
