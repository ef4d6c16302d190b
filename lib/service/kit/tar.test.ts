import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tarFiles } from './tar.ts'

let folder: string
const long = 'x'.repeat(90)
const files = { a: 'one', [`${long}/${long}`]: 'two', empty: '', large: 'y'.repeat(100_000) }
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-tar-'))
  mkdirSync(join(folder, long))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  symlinkSync('/etc/passwd', join(folder, 'link'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const packed = (format: string) => spawn('tar', ['-c', `--format=${format}`, '-C', folder, '.']).stdout

describe('tarFiles', () => {
  for (const format of ['gnu', 'pax', 'ustar'])
    it(`reads regular files of a ${format} archive`, async () => {
      const found: Record<string, string> = {}
      for await (const { path, content } of tarFiles(packed(format)))
        found[path.slice(2)] = Buffer.concat(await Array.fromAsync(content)).toString()
      expect(found).toEqual(files)
    })

  it('skips content that is not read to its end', async () => {
    const paths: string[] = []
    for await (const { path, content } of tarFiles(packed('gnu'))) {
      paths.push(path)
      for await (const part of content) if (part.length > 0) break
    }
    expect(paths).toHaveLength(Object.keys(files).length)
  })

  it('rejects an archive that is cut off', async () => {
    const whole = await buffer(packed('gnu'))
    const cut = Readable.from([whole.subarray(0, whole.length - 40_000)])
    await expect(Array.fromAsync(tarFiles(cut))).rejects.toThrow('cut off')
  })
})
