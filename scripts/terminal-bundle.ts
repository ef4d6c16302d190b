import { join } from 'node:path'
import { build } from 'rolldown'
import { terminalFolder } from '#lib/gateway/terminal-script.ts'

/**
 * Builds the script of terminals, beside it what that loads only when it is needed, and what stands first in a page that
 * begins with a terminal; each named by its content.
 */
export const bundleTerminal = async (root: string, { dev = false } = {}): Promise<void> => {
  const common = { cwd: root, platform: 'browser', logLevel: 'warn' } as const
  const output = { dir: terminalFolder(root, { dev }), minify: true, entryFileNames: '[name]-[hash].js' } as const
  await build({
    ...common,
    input: { terminal: join(root, 'components/terminal/terminal-script.ts') },
    output: { ...output, cleanDir: true, format: 'esm', chunkFileNames: 'part-[hash].js' },
  })
  await build({
    ...common,
    input: { first: join(root, 'components/terminal/first-script.ts') },
    output: { ...output, format: 'iife' },
  })
}
