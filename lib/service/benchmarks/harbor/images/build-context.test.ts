import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { baseImagesOf, dockerfileOf, openContext } from './build-context.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-context-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (...names: string[]) => {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), `content of ${name}`)
  }
}

const sent = async (source: { dockerfile?: string; inline?: string } = {}) => {
  const context = { context: folder, dockerfile: 'Dockerfile', inline: null, ...source }
  const opened = await openContext(context, await dockerfileOf(context), new AbortController().signal)
  const input = await buffer(opened.context)
  const tar = (...options: string[]) => execFileSync('tar', options, { input, encoding: 'utf8' })
  return { dockerfile: opened.dockerfile, names: tar('-t').trim().split('\n'), tar }
}

describe('openContext', () => {
  it('leaves out what .dockerignore excludes, but not the Dockerfile', async () => {
    write('Dockerfile', 'app/main.py', 'app/cache/a', 'app/cache/keep', 'secret.txt')
    writeFileSync(join(folder, '.dockerignore'), 'Dockerfile\n*.txt\napp/cache/*\n!app/cache/keep\n')
    expect((await sent()).names).toEqual([
      '.dockerignore',
      'Dockerfile',
      'app/',
      'app/cache/',
      'app/cache/keep',
      'app/main.py',
    ])
  })

  it('does not follow links', async () => {
    write('Dockerfile')
    symlinkSync('/etc', join(folder, 'link'))
    expect((await sent()).names).toEqual(['Dockerfile', 'link'])
  })

  it('adds a Dockerfile from elsewhere', async () => {
    write('file')
    const text = `FROM scratch\nCOPY file /\n${'# long\n'.repeat(200)}`
    const { dockerfile, names, tar } = await sent({ inline: text })
    expect(names).toEqual([dockerfile, 'file'])
    expect(tar('-x', '-O', dockerfile)).toBe(text)
    expect(tar('-x', '-O', 'file')).toBe('content of file')
  })
})

describe('baseImagesOf', () => {
  it('finds images of all stages, with their arguments', () => {
    const text = `ARG BASE=debian:12\nARG TAG\nFROM $BASE AS one\nFROM scratch\nFROM one\nFROM app:$TAG\nCOPY --from=one / /\nCOPY --from=tools:1 / /\n`
    expect(baseImagesOf(text, { TAG: '3' })).toEqual(['debian:12', 'app:3', 'tools:1'])
  })
})
