import { join } from 'node:path'
import { build } from 'rolldown'
import { terminalFolder } from '#lib/gateway/terminal-script.ts'

/** Builds the script of terminals, and beside it what that loads only when it is needed, each named by its content. */
export const bundleTerminal = async (root: string, { dev = false } = {}): Promise<void> => {
  await build({
    input: { terminal: join(root, 'components/terminal/terminal-script.ts') },
    cwd: root,
    platform: 'browser',
    logLevel: 'warn',
    output: {
      dir: terminalFolder(root, { dev }),
      cleanDir: true,
      format: 'esm',
      minify: true,
      entryFileNames: '[name]-[hash].js',
      chunkFileNames: 'part-[hash].js',
    },
  })
}
