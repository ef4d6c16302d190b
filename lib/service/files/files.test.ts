import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSmall, sendFolder } from '#lib/service/benchmarks/transfer.ts'
import type { RunningDevbox } from '#lib/service/engine/box.ts'
import { startPlainProcess } from '#lib/service/engine/process/plain-process.ts'
import { makeLocalSpec, outputOf } from '#lib/service/testing/boxes.ts'
import { writeFile } from './files.ts'

/** A shell that finds only busybox's programs, as in an Alpine image. */
const busybox = (folder: string) => {
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  for (const name of ['cat', 'chmod', 'dd', 'mkdir', 'mv', 'readlink', 'realpath', 'rm', 'stat', 'tar', 'wc'])
    symlinkSync('/usr/bin/busybox', join(programs, name))
  const shell = join(folder, 'shell')
  writeFileSync(shell, `#!/usr/bin/busybox sh\nPATH=${programs} exec /usr/bin/busybox sh "$@"\n`)
  chmodSync(shell, 0o755)
  return shell
}

const shells = { '/usr/bin/dash': () => '/usr/bin/dash', '/usr/bin/busybox': busybox }

describe.each(Object.entries(shells).filter(([path]) => existsSync(path)))('files through %s', (path, shellIn) => {
  const { signal } = new AbortController()
  let folder: string
  let devbox: RunningDevbox
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'devdeck-files-'))
    const box = await startPlainProcess(makeLocalSpec(folder, { devboxId: 'one', serviceId: `files-${process.pid}` }))
    devbox = { box: { ...box, shell: shellIn(folder) }, env: {}, busy: () => () => undefined }
  })
  afterAll(async () => {
    await devbox.box.stop()
    rmSync(folder, { recursive: true })
  })

  const home = (name = '') => join(folder, 'one', 'home', name)
  async function* parts(...all: (string | Error)[]) {
    for (const part of all)
      if (part instanceof Error) throw part
      else yield Buffer.from(part)
  }
  const write = (name: string, ...all: (string | Error)[]) => writeFile(devbox, name, parts(...all))
  const read = (name: string) => readSmall({ devbox, signal }, name, 2 ** 20)

  it('are replaced whole, through links, with their mode', async () => {
    const large = 'a\0\n* b'.repeat(50_000)
    expect(await write('new/folder/file', large)).toBe(large.length)
    expect(await read('new/folder/file')).toBe(large)
    chmodSync(home('new/folder/file'), 0o640)
    symlinkSync('new/folder/file', home('link'))
    expect(await write('link', '')).toBe(0)
    expect(await read('new/folder/file')).toBe('')
    expect(statSync(home('new/folder/file')).mode & 0o777).toBe(0o640)
  })

  it('are unchanged after an interrupted upload', async () => {
    await write('kept', 'before')
    await expect(write('kept', 'x y x'.repeat(9), new Error('interrupted'))).rejects.toThrow('interrupted')
    expect(await read('kept')).toBe('before')
    expect(readdirSync(home()).filter((name) => name.startsWith('.devdeck-'))).toEqual([])
  })

  it('are refused with the reason', async () => {
    mkdirSync(home('folder'))
    await write('file', 'x')
    expect(await read('missing')).toBeUndefined()
    await expect(read('folder')).rejects.toMatchObject({ code: 'invalid_argument', message: 'folder: Is a directory' })
    await expect(write('folder', 'x')).rejects.toMatchObject({ message: 'folder: Is a directory' })
    await expect(write('file/below', 'x')).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(write('n'.repeat(300), 'x')).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('are sent as a folder', async () => {
    const from = join(folder, 'from')
    mkdirSync(from)
    writeFileSync(join(from, 'sent'), path)
    await sendFolder({ devbox, signal }, from, home('to'))
    expect(await outputOf(devbox.box, 'cat ~/to/sent')).toBe(path)
  })
})
