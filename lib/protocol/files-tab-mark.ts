/** A shell comment that marks the commands with which the Files tab reads, so that logs can hide them. */
const mark = '# Read by the Files tab of Devdeck\n'

export const markAsFilesTab = (command: string): string => mark + command

export const isFilesTabCommand = (command: string | null | undefined): boolean => command?.startsWith(mark) ?? false
