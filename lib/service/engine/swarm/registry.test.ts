import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { has } from '#lib/service/testing/docker.ts'
import { freePort } from '#lib/service/testing/free-port.ts'
import { Registry } from './registry.ts'
import { readCredentials } from './registry-credentials.ts'

const insecure = async () => true
const type = 'application/vnd.docker.distribution.manifest.v2+json'

describe.runIf(has('docker-registry'))('a registry with a password and without deletion', () => {
  let folder: string
  let host: string
  let process: ChildProcess
  const authorization = `Basic ${Buffer.from('devdeck:secret').toString('base64')}`

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'devdeck-registry-'))
    host = `127.0.0.1:${await freePort()}`
    const passwords = join(folder, 'htpasswd')
    await writeFile(passwords, 'devdeck:$2b$04$rxi0sNkGG7CRrr8Zp82Dr.TgZyxs6eUlliH3AfTk6nMjAnoJRuctS\n')
    const auth = { htpasswd: { realm: 'devdeck', path: passwords } }
    const storage = { filesystem: { rootdirectory: join(folder, 'data') } }
    // JSON is YAML.
    await writeFile(join(folder, 'config.yml'), JSON.stringify({ version: 0.1, storage, auth, http: { addr: host } }))
    process = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' })
    await vi.waitFor(() => fetch(`http://${host}/v2/`), { timeout: 30_000 })
    await mkdir(join(folder, 'docker'))
    const auths = { [host]: { auth: Buffer.from('devdeck:secret').toString('base64') } }
    await writeFile(join(folder, 'docker', 'config.json'), JSON.stringify({ auths }))
  })
  afterAll(async () => {
    process?.kill('SIGKILL')
    if (folder) await rm(folder, { recursive: true })
  })

  const upload = async (repository: string, content: string): Promise<{ digest: string; size: number }> => {
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
    const begun = await fetch(`http://${host}/v2/${repository}/blobs/uploads/`, {
      method: 'POST',
      headers: { authorization },
    })
    const url = new URL(begun.headers.get('location') ?? '')
    url.searchParams.set('digest', digest)
    await fetch(url, { method: 'PUT', body: content, headers: { authorization } })
    return { digest, size: content.length }
  }

  it('finds and copies images with the credentials of docker login, and tolerates that they stay', async () => {
    const credentials = () => readCredentials(host, { DOCKER_CONFIG: join(folder, 'docker') })
    const registry = new Registry({ address: `${host}/team`, isInsecure: insecure, credentials })
    await registry.requireAvailable()
    expect(await registry.find('disk', 'none')).toBeUndefined()
    const config = { created: '2026-01-01T00:00:00Z', config: { User: 'app' } }
    const image = await upload('team/disk', JSON.stringify(config))
    const layers = [await upload('team/disk', 'a layer')]
    const manifest = JSON.stringify({ schemaVersion: 2, mediaType: type, config: image, layers })
    const headers = { authorization, 'content-type': type }
    await fetch(`http://${host}/v2/team/disk/manifests/one`, { method: 'PUT', body: manifest, headers })
    await registry.copy({ repository: 'disk', tag: 'one' }, { repository: 'snapshot', tag: 'two' })
    const found = await registry.find('snapshot', 'two')
    expect(found).toEqual({ digest: `sha256:${createHash('sha256').update(manifest).digest('hex')}`, id: image.digest })
    expect(await registry.configOf('snapshot', image.digest)).toEqual(config)
    await registry.delete('snapshot', found?.digest ?? '')
    expect(await registry.find('snapshot', 'two')).toEqual(found)
  })

  it('says how to log in', async () => {
    const registry = new Registry({ address: host, isInsecure: insecure, credentials: async () => undefined })
    const message = `Run docker login ${host} as the service's user`
    await expect(registry.requireAvailable()).rejects.toMatchObject({
      message: expect.stringContaining(message),
      shouldRetry: false,
    })
  })
})

describe('a registry with tokens', () => {
  let server: Server
  const serve = async (listener: RequestListener) => {
    server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  afterAll(() => server?.close())

  it('receives the token that the credentials are exchanged for', async () => {
    const requests: string[] = []
    const host = await serve(({ url = '', headers }, response) => {
      requests.push(`${url} ${headers.authorization}`)
      if (url.startsWith('/token')) return response.end(JSON.stringify({ token: 'abc' }))
      if (headers.authorization === 'Bearer abc') return response.end()
      const challenge = `Bearer realm="http://${host}/token",service="a registry",scope="repository:x:pull"`
      return response.writeHead(401, { 'www-authenticate': challenge }).end()
    })
    const credentials = async () => ({ username: 'a', password: 'b' })
    await new Registry({ address: host, isInsecure: insecure, credentials }).requireAvailable()
    const basic = `Basic ${Buffer.from('a:b').toString('base64')}`
    expect(requests.slice(-3)).toEqual([
      `/v2/ ${basic}`,
      `/token?service=a+registry&scope=repository%3Ax%3Apull ${basic}`,
      '/v2/ Bearer abc',
    ])
  })
})
