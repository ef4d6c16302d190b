import { readFileSync } from 'node:fs'

/** Without the byte order mark that some editors write and JSON.parse rejects. */
export const readText = (file: string): string => readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
