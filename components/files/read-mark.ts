/** The first line of a command by which the Files tab reads a folder or the size of something. A comment to the shell. */
const mark = '# Read by the Files tab of Devdeck\n'

/** The command, so marked that whoever reads the log of the devbox knows it from those of people. */
export const readByFiles = (command: string): string => mark + command

export const isReadByFiles = (command: string | null | undefined): boolean => command?.startsWith(mark) ?? false
