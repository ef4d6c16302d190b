import { once } from 'node:events'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { ObjectCreate } from '#lib/contract/objects.ts'
import { startService, statusOf } from '#lib/service/testing/service.ts'

const service = await startService({ isolation: 'none', maxStorageBytes: 4 * 2 ** 20 })
afterAll(() => service.close())

const { objects } = service.client
const create = (body: Partial<ObjectCreate> = {}) =>
  objects.create({ body: { name: 'file', content_type: 'text', ...body } })
const put = (url: string | null | undefined, body: BodyInit) => fetch(url ?? '', { method: 'PUT', body })
const stored = async (content: string, body: Partial<ObjectCreate> = {}) => {
  const { id, upload_url } = await create(body)
  expect((await put(upload_url, content)).status).toBe(200)
  return objects.complete({ params: { id } })
}
const linkOf = async (id: string, duration_seconds?: number) =>
  (await objects.download({ params: { id }, query: { ...(duration_seconds && { duration_seconds }) } })).download_url
const filesOf = (id: string) => {
  const folder = join(service.dataDir, 'objects', id)
  return existsSync(folder) ? readdirSync(folder) : []
}

describe('an object', () => {
  it('is created, uploaded, completed and downloaded', async () => {
    const { upload_url, ...created } = await create({ name: 'notes.txt', metadata: { team: 'a' } })
    expect(created).toEqual({
      ...{ id: expect.stringMatching(/^obj_/), name: 'notes.txt', content_type: 'text', state: 'UPLOADING' },
      ...{ create_time_ms: expect.any(Number), delete_after_time_ms: null },
      ...{ metadata: { team: 'a' }, size_bytes: null },
    })
    const params = { id: created.id }
    expect(await objects.get({ params })).toEqual({ ...created, upload_url: null })
    expect(await statusOf(linkOf(created.id))).toBe(400)
    await put(upload_url, 'grüße')
    expect(await objects.complete({ params })).toMatchObject({ state: 'READ_ONLY', size_bytes: 7, upload_url: null })
    expect(await objects.complete({ params })).toMatchObject({ state: 'READ_ONLY' })
    const response = await fetch(await linkOf(created.id))
    expect(await response.text()).toBe('grüße')
    expect(response.headers.get('content-disposition')).toContain('notes.txt')
    expect(response.headers.get('content-length')).toBe('7')
  })

  it('is uploaded over HTTP/2 without a key', async () => {
    const { id, upload_url } = await create({ content_type: 'binary' })
    const url = new URL(upload_url ?? '')
    const session = connect(url.origin)
    const stream = session.request({ ':method': 'PUT', ':path': url.pathname + url.search })
    stream.end(Buffer.alloc(300_000, 1))
    const [headers] = await once(stream, 'response')
    expect(headers[':status']).toBe(200)
    session.close()
    expect(await objects.complete({ params: { id } })).toMatchObject({ size_bytes: 300_000 })
  })

  it('can be empty', async () => {
    const { id } = await stored('')
    expect(await (await fetch(await linkOf(id))).text()).toBe('')
  })

  it('is uploaded once', async () => {
    const { id, upload_url } = await create()
    await put(upload_url, 'first')
    expect((await put(upload_url, 'second')).status).toBe(409)
    await objects.complete({ params: { id } })
    expect((await put(upload_url, 'third')).status).toBe(400)
    expect(await (await fetch(await linkOf(id))).text()).toBe('first')
  })

  it('is not completed before its upload', async () => {
    const { id } = await create()
    expect(await statusOf(objects.complete({ params: { id } }))).toBe(400)
    expect(await objects.get({ params: { id } })).toMatchObject({ state: 'UPLOADING' })
  })

  it.each(['HTTP/1.1', 'HTTP/2'])('is not completed by a part of its content over %s', async (version) => {
    const { id, upload_url } = await create()
    const { origin, hostname, port, pathname, search, host } = new URL(upload_url ?? '')
    const isReceiving = () => vi.waitFor(() => expect(filesOf(id)).toEqual(['content.part']))
    if (version === 'HTTP/2') {
      const session = connect(origin)
      const stream = session.request({ ':method': 'PUT', ':path': pathname + search }).on('error', () => undefined)
      stream.write('part')
      await isReceiving()
      stream.destroy(new Error('cut'))
      session.close()
    } else {
      const socket = connectTcp(Number(port), hostname)
      socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\npart`)
      await isReceiving()
      socket.destroy()
    }
    await vi.waitFor(() => expect(filesOf(id)).toEqual([]))
    expect(await statusOf(objects.complete({ params: { id } }))).toBe(400)
    expect((await put(upload_url, 'whole')).status).toBe(200)
    expect(await objects.complete({ params: { id } })).toMatchObject({ size_bytes: 5 })
  })

  it('is uploaded again after the service stopped in between', async () => {
    const { id, upload_url } = await create()
    const { hostname, port, pathname, search, host } = new URL(upload_url ?? '')
    const socket = connectTcp(Number(port), hostname).on('error', () => undefined)
    socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\npart`)
    await vi.waitFor(() => expect(filesOf(id)).toEqual(['content.part']))
    await service.restart()
    expect(filesOf(id)).toEqual([])
    // As left by a service that was killed.
    writeFileSync(join(service.dataDir, 'objects', id, 'content.part'), 'part')
    await service.restart()
    await vi.waitFor(() => expect(filesOf(id)).toEqual([]))
    expect((await put(upload_url, 'whole')).status).toBe(200)
    expect(await objects.complete({ params: { id } })).toMatchObject({ state: 'READ_ONLY', size_bytes: 5 })
  })

  it('is in error if its content is lost', async () => {
    const { id } = await stored('text')
    rmSync(join(service.dataDir, 'objects', id), { recursive: true })
    await service.restart()
    expect(await objects.get({ params: { id } })).toMatchObject({ state: 'ERROR' })
    expect(await statusOf(linkOf(id))).toBe(400)
    expect(await objects.delete({ params: { id } })).toMatchObject({ state: 'DELETED' })
  })

  it.each([
    ['name', { name: '' }],
    ['content_type', { content_type: 'zip' }],
    ['ttl_ms', { ttl_ms: 0 }],
    ['metadata', { metadata: { a: 1 } }],
  ])('rejects %s of %j', async (field, body) => {
    await expect(create(body as never)).rejects.toMatchObject({ status: 400, field })
  })
})

describe('a link', () => {
  it('is valid for one method of one object and cannot be extended', async () => {
    const [one, two] = [await create(), await create()]
    const done = await stored('text')
    const link = await linkOf(done.id)
    const later = (url: string) => url.replace(/expires=(\d+)/, (_, ms) => `expires=${Number(ms) + 1}`)
    for (const url of [
      (one.upload_url ?? '').replace(one.id, two.id),
      later(one.upload_url ?? ''),
      link,
      `${service.url}/objects/${one.id}/content?expires=${Date.now() + 1000}&signature=x`,
    ])
      expect((await put(url, 'x')).status).toBe(403)
    for (const url of [later(link), one.upload_url ?? '', link.replace(done.id, 'obj_missing')])
      expect((await fetch(url)).status).toBe(403)
    expect((await fetch(link)).status).toBe(200)
  })

  it('expires', async () => {
    const { id } = await stored('text')
    const link = await linkOf(id, 1)
    await vi.waitFor(async () => expect((await fetch(link)).status).toBe(403), { timeout: 5000 })
    expect(await statusOf(linkOf(id, 700_000))).toBe(400)
  })

  it('uses the address of the request', async () => {
    const { port } = new URL(service.url)
    const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'file', content_type: 'text' })
    const response = await fetch(`http://localhost:${port}/v1/objects`, { method: 'POST', headers, body })
    expect((await response.json()).upload_url).toMatch(`http://localhost:${port}/objects/`)
    const forwarded = { ...headers, 'x-forwarded-proto': 'https' }
    const secure = await fetch(`${service.url}/v1/objects`, { method: 'POST', headers: forwarded, body })
    expect((await secure.json()).upload_url).toMatch(`https://127.0.0.1:${port}/objects/`)
  })
})

describe('deletion', () => {
  it('removes the content and keeps the record', async () => {
    const { id } = await stored('text', { name: 'deleted' })
    const link = await linkOf(id)
    const params = { id }
    expect(await objects.delete({ params })).toMatchObject({ id, state: 'DELETED' })
    expect(await objects.delete({ params })).toMatchObject({ id, state: 'DELETED' })
    expect(await objects.get({ params })).toMatchObject({ state: 'DELETED' })
    expect(filesOf(id)).toEqual([])
    expect((await fetch(link)).status).toBe(403)
    expect(await statusOf(objects.complete({ params }))).toBe(400)
    expect((await objects.list({ query: { name: 'deleted' } })).objects).toEqual([])
    expect((await objects.list({ query: { name: 'deleted', state: 'DELETED' } })).objects).toMatchObject([{ id }])
  })

  it('happens after the lifetime, also across a restart', async () => {
    const soon = await stored('text', { ttl_ms: 1000 })
    expect(soon.delete_after_time_ms).toBe(soon.create_time_ms + 1000)
    const isDeleted = (id: string) =>
      vi.waitFor(async () => expect(await objects.get({ params: { id } })).toMatchObject({ state: 'DELETED' }), {
        timeout: 5000,
      })
    await isDeleted(soon.id)
    const kept = await stored('kept', { ttl_ms: 3_600_000 })
    const later = await stored('text', { ttl_ms: 1000 })
    await service.restart()
    await isDeleted(later.id)
    expect(await (await fetch(await linkOf(kept.id))).text()).toBe('kept')
  })
})

describe('lists', () => {
  it('filter by name, type, state and metadata, in pages', async () => {
    const made: string[] = []
    for (const name of ['list one', 'list two', 'list three'])
      made.unshift((await stored('x', { name, metadata: { step: name } })).id)
    const open = await create({ name: 'list open', content_type: 'tar' })
    const ids = async (query: Parameters<typeof objects.list>[0]) =>
      (await objects.list(query)).objects.map(({ id }) => id)
    expect(await ids({ query: { name: 'LIST' } })).toEqual([open.id, ...made])
    expect(await ids({ query: { name: 'list', state: 'READ_ONLY' } })).toEqual(made)
    expect(await ids({ query: { name: 'list', content_type: 'tar' } })).toEqual([open.id])
    expect(await ids({ query: { search: made[0] ?? '' } })).toEqual([made[0]])
    const step = [{ key: 'step', op: 'eq' as const, value: 'list two' }]
    expect(await ids({ query: { metadata: step } })).toEqual([made[1]])
    expect(await ids({ query: { name: 'list', limit: 2, starting_after: open.id } })).toEqual(made.slice(0, 2))
    expect((await objects.metadataValues({ params: { key: 'step' } })).values).toContain('list one')
    expect(await objects.listPublic()).toEqual({ objects: [], has_more: false, total_count: 0 })
    expect((await service.otherClient.objects.list()).objects).toEqual([])
  })
})

describe('the storage limit', () => {
  it('counts uploads and is released by deletion, also across a restart', async () => {
    const large = Buffer.alloc(3 * 2 ** 20)
    const first = await create({ content_type: 'binary' })
    await put(first.upload_url, large)
    await service.restart()
    const second = await create({ content_type: 'binary' })
    const refused = await put(second.upload_url, large)
    expect(refused.status).toBe(507)
    expect((await refused.json()).message).toMatch(/\(objects [34]\.\d MiB\) of at most 4\.0 MiB/)
    expect(filesOf(second.id)).toEqual([])
    await objects.delete({ params: { id: first.id } })
    expect((await put(second.upload_url, large)).status).toBe(200)
  })
})
