import { randomBytes } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { join } from 'node:path'
import Runloop, { toFile } from '@runloop/api-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeInEachBox } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i))

describeInEachBox('files under isolation', (isolation) => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation })
    id = await newDevbox()
  })
  afterAll(() => service.close())

  const newDevbox = async () => await service.devbox()
  const path = (operation: string, devbox = id) => `/v1/devboxes/${devbox}/${operation}`
  const post = (operation: string, body: unknown, devbox = id) => service.post(path(operation, devbox), body)
  const read = (file_path: string) => post('read_file_contents', { file_path })
  const text = async (file_path: string) => {
    const response = await read(file_path)
    return response.ok ? await response.text() : response.status
  }
  const write = (file_path: string, contents: unknown) => post('write_file_contents', { file_path, contents })
  const download = (file: string) => post('download_file', { path: file })
  const upload = (parts: string[], devbox = id) => {
    const form = new FormData()
    for (const part of parts) {
      const [name = '', value = ''] = part.split('=')
      form.append(name, (name === 'file' ? new Blob([value]) : value) as string)
    }
    return service.fetch(path('upload_file', devbox), { method: 'POST', body: form })
  }
  const run = async (command: string, devbox = id) => {
    const { exit_status, stdout } = await service.run(devbox, command)
    return { status: exit_status, stdout }
  }

  describe.each([
    ['HTTP/2', {}],
    ['HTTP/1.1', { http2: false }],
  ])('through the public client over %s', (_, transport) => {
    const client = () => new Runloop({ bearerToken: service.key, baseURL: service.url, maxRetries: 0, ...transport })

    it('are written, read, uploaded and downloaded', async () => {
      const { devboxes } = client()
      expect(await devboxes.writeFileContents(id, { file_path: 'a/b.txt', contents: 'ä\r\n' })).toEqual({
        devbox_id: id,
        exit_status: 0,
        stdout: '',
        stderr: '',
      })
      expect(await devboxes.readFileContents(id, { file_path: '~/a/b.txt' })).toBe('ä\r\n')
      await devboxes.uploadFile(id, { path: '~/uploaded.bin', file: await toFile(everyByte, 'x.bin') })
      await devboxes.uploadFile(id, { file: await toFile(everyByte, 'x.bin'), path: 'file-first.bin' })
      for (const name of ['uploaded.bin', 'file-first.bin']) {
        const response = await devboxes.downloadFile(id, { path: name })
        expect(response.headers.get('content-length')).toBe('256')
        expect(Buffer.from(await response.arrayBuffer())).toEqual(everyByte)
      }
      await expect(devboxes.readFileContents(id, { file_path: 'none' })).rejects.toMatchObject({
        status: 404,
        message: expect.stringContaining('none'),
      })
    })

    it('of 8 MiB are uploaded and downloaded unchanged', async () => {
      const bytes = randomBytes(8 * 1024 * 1024)
      await client().devboxes.uploadFile(id, { path: 'large', file: await toFile(bytes, 'large') })
      const back = await client().devboxes.downloadFile(id, { path: 'large' })
      expect(Buffer.from(await back.arrayBuffer()).equals(bytes)).toBe(true)
    })
  })

  it('are found by relative and absolute paths and by ~', async () => {
    expect((await write('same.txt', 'x')).status).toBe(200)
    const { stdout: home } = await run('printf %s "$HOME"')
    for (const each of ['same.txt', './same.txt', '~/same.txt', `${home}/same.txt`, '~/a/../same.txt', 'x/../same.txt'])
      expect(await text(each), each).toBe(each.startsWith('x/') ? 404 : 'x')
    expect((await write('/tmp/x/y', 'tmp')).status).toBe(200)
    expect(await text('/tmp/x/y')).toBe('tmp')
  })

  it.each([
    ...[
      '-rf',
      'quote\'s "and" more',
      'new\nline',
      'end\n',
      '$(touch pwned); `touch pwned`',
      'back\\slash',
      'ünïcode ☃ 😀',
    ],
    ...['*', '~user', 'n'.repeat(200)],
  ])('can be named %j', async (name) => {
    expect((await write(name, name)).status).toBe(200)
    expect(await text(name)).toBe(name)
    const response = await download(`~/${name}`)
    expect(response.headers.get('content-disposition')).toContain(
      `filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27').replaceAll('(', '%28').replaceAll(')', '%29').replaceAll('*', '%2A')}`,
    )
    await response.arrayBuffer()
    expect((await run('ls pwned')).status).not.toBe(0)
  })

  it('are read as raw bytes and may be empty', async () => {
    const form = new FormData()
    form.append('path', 'raw')
    form.append('file', new Blob([everyByte]))
    expect((await service.fetch(path('upload_file'), { method: 'POST', body: form })).status).toBe(200)
    const response = await read('raw')
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(Buffer.from(await response.arrayBuffer())).toEqual(everyByte)
    expect((await upload(['path=empty', 'file='])).status).toBe(200)
    expect((await write('empty too', '')).status).toBe(200)
    for (const name of ['empty', 'empty too']) expect(await text(name)).toBe('')
  })

  it('may be kernel files without a size', async () => {
    expect(await text('/proc/self/comm')).toMatch(/^(cat|bash)\n$/)
    expect(await text('/etc/hostname')).toEqual(expect.any(String))
  })

  it('keep their mode and links', async () => {
    await run('echo old >script && chmod 754 script && ln -s script link && mkdir real && ln -s real folder')
    expect((await write('link', 'new')).status).toBe(200)
    expect((await write('folder/inside', 'x')).status).toBe(200)
    expect((await run('stat -c %a script; cat script; readlink link; ls real')).stdout).toBe('754\nnewscript\ninside\n')
    await write('fresh', '')
    expect((await run('stat -c %a fresh')).stdout).toBe('644\n')
  })

  it.each([
    ['a missing file', 'no/such', 404, 'not_found'],
    ['a folder', '.', 400, 'invalid_argument'],
    ['an endless device', '/dev/zero', 400, 'invalid_argument'],
    ['a file as a folder', 'plain/x', 400, 'invalid_argument'],
    ['a FIFO without a writer', 'fifo', 400, 'invalid_argument'],
  ])('are rejected as %s', async (_, file, status, code) => {
    await run('echo >plain; test -p fifo || mkfifo fifo')
    for (const response of [await read(file), await download(file)]) {
      expect(response.status).toBe(status)
      expect(response.headers.get('content-disposition')).toBeNull()
      expect(await response.json()).toMatchObject({ code, message: expect.stringContaining(file) })
    }
  })

  it.each([
    ['a folder', 'dir'],
    ['a new folder', 'new/'],
    ['a device', '/dev/null'],
    ['a FIFO', 'fifo2'],
    ['below a file', 'plain2/x'],
  ])('are not written to %s', async (_, file) => {
    await run('mkdir -p dir; echo >plain2; test -p fifo2 || mkfifo fifo2')
    expect((await write(file, 'x')).status).toBe(400)
    expect((await upload([`path=${file}`, 'file=x'])).status).toBe(400)
  })

  it.runIf(isolation === 'bubblewrap')('outside of the devbox are inaccessible', async () => {
    writeFileSync(join(service.dataDir, 'of-the-service'), 'secret')
    const other = await newDevbox()
    await run('echo secret >mine', other)
    await run(`ln -s ${service.dataDir}/of-the-service out; ln -s ${service.dataDir}/devboxes/${other}/home/mine out2`)
    for (const each of ['out', 'out2', `${service.dataDir}/of-the-service`, '../../../../of-the-service'])
      expect(await text(each), each).toBe(404)
    expect((await write('/etc/hostname', 'x')).status).toBe(403)
    expect((await write('/etc/new', 'x')).status).toBe(403)
    await run('echo x >locked; chmod 0 locked; mkdir shut; chmod 0 shut')
    expect(await text('locked')).toBe(403)
    expect((await write('shut/x', 'x')).status).toBe(403)
  })

  it.each([
    ['no path', ['file=x'], 'path'],
    ['no file', ['path=x'], 'file'],
    ['two paths', ['path=x', 'path=y', 'file=x'], 'path'],
    ['a second path after the file', ['path=x2', 'file=x', 'path=y'], 'path'],
    ['two files', ['path=x2', 'file=x', 'file=y'], 'body'],
    ['a path with NUL', ['path=a\0b', 'file=x'], 'path'],
  ])('are not uploaded with %s', async (_, parts, field) => {
    const response = await upload(parts)
    expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 400, body: { field } })
    expect(await text('x2')).toBe(404)
  })

  it('are unchanged by an interrupted upload, which leaves no temporary file', async () => {
    await write('cut/file', 'old')
    const head = [
      `POST ${path('upload_file')} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nAuthorization: Bearer ${service.key}\r\n`,
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n',
      '--b\r\nContent-Disposition: form-data; name="path"\r\n\r\ncut/file\r\n',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n',
    ].join('')
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.write(head + 'n'.repeat(200_000))
    while ((await run('ls -A cut | wc -l')).stdout?.trim() !== '2');
    socket.destroy()
    while ((await run('ls -A cut | wc -l')).stdout?.trim() !== '1');
    expect(await text('cut/file')).toBe('old')
  })

  it('require a running devbox', async () => {
    const stopped = await newDevbox()
    await service.client.devboxes.suspend({ params: { id: stopped } })
    for (const [operation, body] of [
      ['read_file_contents', { file_path: 'x' }],
      ['write_file_contents', { file_path: 'x', contents: 'x' }],
      ['download_file', { path: 'x' }],
    ] as const) {
      const rejected = await post(operation, body, stopped)
      expect({ status: rejected.status, body: await rejected.json() }).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('needs to be running') },
      })
      expect((await post(operation, body, 'dbx_missing')).status).toBe(404)
    }
    const parts = ['path=x', 'file=x']
    expect((await upload(parts, stopped)).status).toBe(400)
    expect((await upload(parts.toReversed(), stopped)).status).toBe(400)
    expect((await upload(parts, 'dbx_missing')).status).toBe(404)
  })

  it('are limited to 100 MiB in JSON', async () => {
    const most = 100 * 1024 * 1024
    expect((await write('most', 'x'.repeat(most))).status).toBe(200)
    expect((await run('stat -c %s most')).stdout).toBe(`${most}\n`)
    expect((await (await read('most')).arrayBuffer()).byteLength).toBe(most)
    expect((await write('more', 'x'.repeat(most + 1))).status).toBe(413)
    expect(readdirSync(join(service.dataDir, 'spool'))).toEqual([])
    await run('truncate -s +1 most')
    expect((await read('most')).status).toBe(413)
    expect((await write('most', 'small')).status).toBe(200)
  })

  it('are rejected over HTTP/2 before a too large upload is complete', async () => {
    const session = connectHttp2(service.url)
    const stream = session.request({
      ':method': 'POST',
      ':path': path('upload_file'),
      authorization: `Bearer ${service.key}`,
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': String(5 * 1024 ** 3),
    })
    const status = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])))
    session.destroy()
    expect(status).toBe(413)
  })

  it('require multipart/form-data', async () => {
    const send = async (type: string) =>
      (await service.fetch(path('upload_file'), { method: 'POST', headers: { 'content-type': type }, body: 'x' }))
        .status
    for (const type of ['application/json', 'text/plain', 'multipart/mixed; boundary=b'])
      expect(await send(type)).toBe(415)
    for (const type of ['multipart/form-data; x=y', 'multipart/form-data']) expect(await send(type)).toBe(400)
    const compressed = { 'content-type': 'multipart/form-data; boundary=b', 'content-encoding': 'gzip' }
    const body = '--b\r\ncontent-disposition: form-data; name="path"\r\n\r\na\r\n--b--'
    expect((await service.fetch(path('upload_file'), { method: 'POST', headers: compressed, body })).status).toBe(415)
  })
})
