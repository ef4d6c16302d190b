import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from '@playwright/test'

export interface Browser {
  executablePath?: string
  args: string[]
  env?: Record<string, string>
}

const candidates = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Finds Chromium: CHROMIUM_PATH, the system's, Playwright's, or the npm package (Linux x64). */
export const findChromium = async (): Promise<Browser> => {
  // Chromium's sandbox doesn't start as root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const quiet = [
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ]
  const found = candidates.find((path) => path && existsSync(path))
  if (found) return { executablePath: found, args: [...args, ...quiet] }
  if (existsSync(chromium.executablePath())) return { args }
  const { default: packaged, inflate } = await import('@sparticuz/chromium')
  const executablePath = await packaged.executablePath()
  const env = { ...process.env } as Record<string, string>
  if (spawnSync(executablePath, ['--version']).status !== 0) {
    // Minimal images lack NSS; the package contains its libraries.
    const libraries = join(import.meta.dirname, '../node_modules/@sparticuz/chromium/bin/al2023.tar.br')
    await inflate(libraries)
    env.LD_LIBRARY_PATH = [join(tmpdir(), 'al2023/lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':')
  }
  return { executablePath, args: [...args, ...quiet, '--headless', '--no-zygote'], env }
}
