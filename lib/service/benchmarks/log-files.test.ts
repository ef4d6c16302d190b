import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { filesBelow } from './log-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-log-files-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const put = (path: string, content = path) => {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), content)
}

/** `meanwhile` is called before each file is read. */
const read = async (below: string, meanwhile: (name: string) => void) => {
  const found: Record<string, string> = {}
  for await (const { path, content } of filesBelow(join(folder, below), () => undefined)) {
    meanwhile(path.join('/'))
    found[path.join('/')] = await text(content)
  }
  return found
}

it('stays inside the folder while a devbox swaps it for a link', async () => {
  put('outside/b', 'not for you')
  put('logs/sub/a', 'ours')
  put('logs/sub/b', 'ours')
  const found = await read('logs', (name) => {
    if (name !== 'sub/a') return
    renameSync(join(folder, 'logs/sub'), join(folder, 'logs/moved'))
    symlinkSync(join(folder, 'outside'), join(folder, 'logs/sub'))
  })
  expect(found).toEqual({ 'sub/a': 'ours', 'sub/b': 'ours' })
})

it('reads a growing file up to its first size, and a shrinking one as it is', async () => {
  put('logs/grows', 'a'.repeat(600_000))
  put('logs/shrinks', 'b'.repeat(600_000))
  const found = await read('logs', (name) => {
    if (name === 'grows') appendFileSync(join(folder, 'logs/grows'), 'more')
    else truncateSync(join(folder, 'logs/shrinks'), 100_000)
  })
  expect(found.grows?.length).toBe(600_000)
  expect(found.shrinks?.length).toBe(100_000)
})
