import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ImageInfo, Images } from '#lib/service/engine/box.ts'
import { builtImages, TaskImages } from './task-images.ts'

let folder: string
let known: Map<string, ImageInfo>
let built: string[]
let images: Images
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-task-images-'))
  known = new Map()
  built = []
  images = {
    async build({ context, tag }) {
      await buffer(context)
      built.push(tag)
      known.set(tag, info(tag))
      return { image: tag, sizeBytes: 100 }
    },
    find: async (image) => known.get(image),
    inspect: async (image) => known.get(image),
    remove: async (image) => void known.delete(image),
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const info = (id: string): ImageInfo => ({ id, user: '', workdir: '/', env: {}, hasHealthcheck: false })
const taskImages = (maxBytes = 0) =>
  new TaskImages({ engine: 'container', images, listFile: join(folder, 'list.json'), maxBytes, log: () => undefined })
const build = (from: TaskImages, name: string, more = {}) => {
  mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, name, 'Dockerfile'), `FROM base\nENV NAME=${name}\n`)
  const source = {
    context: join(folder, name),
    dockerfile: 'Dockerfile',
    inline: null,
    args: {},
    target: null,
    ...more,
  }
  const { signal } = new AbortController()
  return from.build(source, { builtFor: name, force: false, output: () => undefined, signal })
}

describe('task images', () => {
  it('are built once per content, arguments and base image', async () => {
    const all = taskImages()
    const [first, second] = await Promise.all([build(all, 'a'), build(all, 'a')])
    expect(second).toBe(first)
    expect(await build(taskImages(), 'a')).toBe(first)
    expect(built).toEqual([first])
    expect(await build(all, 'a', { args: { X: '1' } })).not.toBe(first)
    known.set('base', info('base changed'))
    expect(await build(all, 'a')).not.toBe(first)
    expect(built).toHaveLength(3)
  })

  it('are removed above the limit, the least recently used first, but not those just used', async () => {
    const [a, b] = [await build(taskImages(), 'a'), await build(taskImages(), 'b')]
    const listFile = join(folder, 'list.json')
    const list = builtImages(listFile)
    for (const [tag, image] of Object.entries(list)) image.usedMs = tag === a ? 1 : 2
    writeFileSync(listFile, JSON.stringify(list))
    const limited = taskImages(250)
    const c = await build(limited, 'c')
    expect([...known.keys()]).toEqual([b, c])
    expect(Object.keys(builtImages(listFile))).toEqual([b, c])
    const d = await build(limited, 'd')
    const e = await build(limited, 'e')
    expect([...known.keys()]).toEqual([c, d, e])
  })
})
