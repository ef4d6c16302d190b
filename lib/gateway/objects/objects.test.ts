import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'

let service: TestService
let gateway: TestConsole
let cookie: string
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  gateway = await startConsole(service)
  cookie = await gateway.signIn(service.key)
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

const upload = (object: object, body: string | Uint8Array<ArrayBuffer>) =>
  gateway.fetch(`/api/objects?${new URLSearchParams({ object: JSON.stringify(object) })}`, {
    cookie,
    method: 'POST',
    body,
  })
const download = (id: string, as = cookie) => gateway.fetch(`/api/objects/${id}/content`, { cookie: as })

describe('objects', () => {
  it('are uploaded and downloaded without a link reaching the page', async () => {
    const bytes = new Uint8Array(3 * 1024 * 1024).fill(7)
    const response = await upload({ name: 'dir/data "1".bin', content_type: 'binary', metadata: { env: 'ci' } }, bytes)
    expect(response.status).toBe(200)
    const object = await response.json()
    expect(object).toMatchObject({ state: 'READ_ONLY', size_bytes: bytes.length, metadata: { env: 'ci' } })
    expect(object).not.toHaveProperty('upload_url')
    const file = await download(object.id)
    expect(file.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''data%20%221%22.bin")
    expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true)
  })

  it('are rejected with the field that is wrong, and leave nothing behind', async () => {
    const response = await upload({ name: '', content_type: 'text' }, 'x')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_argument', field: 'name' })
    expect((await service.client.objects.list({ query: { content_type: 'text' } })).objects).toEqual([])
  })

  it('belong to their account', async () => {
    const { id } = await (await upload({ name: 'mine', content_type: 'text' }, 'of the owner')).json()
    expect((await download(id, await gateway.signIn(service.otherKey))).status).toBe(404)
    expect((await download('obj_none')).status).toBe(404)
  })
})
