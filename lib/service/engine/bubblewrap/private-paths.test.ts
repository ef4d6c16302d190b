import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { privatePaths } from './private-paths.ts'

it('finds what others may not read or enter, each folder whole, and goes on where one is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-private-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const at = (path: string) => join(folder, path)
  for (const [path, mode] of [
    ['open', 0o755],
    ['open/closed', 0o700],
    ['unentered', 0o754],
    ['unlisted', 0o751],
  ] as const) {
    mkdirSync(at(path))
    for (const [name, fileMode] of [
      ['read', 0o644],
      ['secret', 0o640],
    ] as const) {
      writeFileSync(at(`${path}/${name}`), '')
      chmodSync(at(`${path}/${name}`), fileMode)
    }
    chmodSync(at(path), mode)
  }
  symlinkSync('secret', at('open/link'))
  chmodSync(folder, 0o755)
  expect((await privatePaths([at('missing'), folder])).sort()).toEqual(
    ['open/closed', 'open/secret', 'unentered', 'unlisted'].map(at),
  )
})
