import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { maxUploadBytes } from '#lib/contract/files.ts'
import { mask } from '#lib/protocol/mask.ts'
import { harborJob, zipOf } from '#lib/service/testing/harbor-job.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'

let service: TestService
let gateway: TestConsole
let cookie: string
let id: string
beforeAll(async () => {
  service = await startService()
  gateway = await startConsole(service)
  cookie = await gateway.signIn(service.key)
  id = (await service.client.devboxes.createAndAwaitRunning({ body: {} })).id
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const post = (operation: string, init: RequestInit, devbox = id) =>
  gateway.fetch(`/api/v1/devboxes/${devbox}/${operation}`, { cookie, method: 'POST', ...init })
const form = (path: string, bytes: Uint8Array<ArrayBuffer>) => {
  const parts = new FormData()
  parts.append('path', path)
  parts.append('file', new Blob([bytes]), 'chosen.bin')
  return parts
}
const json = (body: unknown) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const download = async (path: string) => {
  const response = await post('download_file', json({ path }))
  expect(response.status).toBe(200)
  return response
}

/** A form of `pieces` MiB, generated while it is sent. */
const endlessForm = (path: string, pieces: number) => {
  const piece = randomBytes(1024 * 1024)
  let sent = -1
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++sent === 0)
        controller.enqueue(
          Buffer.from(
            `--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n${path}\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n`,
          ),
        )
      else if (sent <= pieces) controller.enqueue(piece)
      else {
        controller.enqueue(Buffer.from('\r\n--b--\r\n'))
        controller.close()
      }
    },
  })
  const init = {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body,
    duplex: 'half',
    redirect: 'error',
    window: null,
  } as RequestInit
  return { init, sentPieces: () => sent }
}

describe('through the console', () => {
  it('a job that ran elsewhere is imported, whatever its files contain', async () => {
    const parts = new FormData()
    const files = harborJob({ pay__aaaaaaa: { task: 'pay', reward: 0.5 } })
    // Names are stored uncompressed, so the archive contains the bytes of a mask.
    const archive = await zipOf({ ...files, [`nightly/pay__aaaaaaa/agent/${mask}.txt`]: mask })
    expect(Buffer.from(await archive.arrayBuffer()).includes(mask)).toBe(true)
    parts.append('file', archive, 'nightly.zip')
    const response = await gateway.fetch('/api/v1/benchmark_jobs/import', { cookie, method: 'POST', body: parts })
    const answer = await response.json()
    expect(response.status, JSON.stringify(answer)).toBe(200)
    expect(answer).toMatchObject({ name: 'nightly', n_trials: 1, already_imported: false })
    const report = await gateway.fetch(`/api/benchmark-jobs/${answer.job_id}/report`, { cookie })
    expect(await report.json()).toMatchObject({ agents: [{ mean: 0.5, n_completed: 1 }] })
  })

  it('a 64 MiB file is uploaded and downloaded unchanged', async () => {
    const bytes = randomBytes(64 * 1024 * 1024)
    const response = await post('upload_file', { body: form('up.bin', bytes) })
    expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: {} })
    const back = await download('up.bin')
    expect(back.headers.get('content-disposition')).toContain('up.bin')
    expect(back.headers.get('content-length')).toBe(String(bytes.length))
    expect(sha256(new Uint8Array(await back.arrayBuffer()))).toBe(sha256(bytes))
  })

  it('a file much larger than the buffers is uploaded completely', async () => {
    const response = await post('upload_file', endlessForm('stream.bin', 384).init)
    expect(response.status).toBe(200)
    const size = await post('execute_sync', json({ command: 'stat -c %s stream.bin' }))
    expect(await size.json()).toMatchObject({ stdout: `${384 * 1024 ** 2}\n` })
  })

  it('a rejection by the service arrives during the upload', async () => {
    const { init, sentPieces } = endlessForm('x', 4096)
    const response = await post('upload_file', init, 'dbx_missing')
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
    expect(sentPieces()).toBeLessThan(4096)
  })
})

describe('rejected without reaching the service', () => {
  const body = () => form('refused', Buffer.from('x'))

  it.each([
    ['a form of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 403],
    ['a form of another port', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }, 403],
    ['a compressed form', { 'content-encoding': 'gzip' }, 415],
    ['a form called text', { 'content-type': 'text/plain' }, 415],
    ['a form called urlencoded', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a form called JSON', { 'content-type': 'application/json' }, 415],
  ])('is %s', async (_, headers, status) => {
    expect((await post('upload_file', { body: body(), headers: headers as Record<string, string> })).status).toBe(
      status,
    )
    expect((await post('download_file', json({ path: 'refused' }))).status).toBe(404)
  })

  it('is a form without a session, or where JSON is required', async () => {
    const response = await gateway.fetch(`/api/v1/devboxes/${id}/upload_file`, { method: 'POST', body: body() })
    expect(response.status).toBe(401)
    expect((await post('download_file', { body: body() })).status).toBe(415)
  })

  it('is a form with an excessive Content-Length', async () => {
    const { request } = await import('node:http')
    const status = await new Promise((resolve, reject) => {
      const outgoing = request(`${gateway.url}/api/v1/devboxes/${id}/upload_file`, {
        method: 'POST',
        headers: {
          cookie,
          origin: gateway.origin,
          'sec-fetch-site': 'same-origin',
          'content-type': 'multipart/form-data; boundary=b',
          'content-length': maxUploadBytes * 2,
        },
      })
      outgoing.once('response', (response) => resolve(response.statusCode)).once('error', reject)
      outgoing.flushHeaders()
    })
    expect(status).toBe(413)
  })
})
