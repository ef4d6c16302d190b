import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defaultLimits } from '#lib/service/config.ts'
import { describeInEachBox } from '#lib/service/testing/isolation.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'
import { attach, openTerminal } from '#lib/service/testing/terminals.ts'

describeInEachBox('terminals under isolation', (isolation) => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation })
    id = await service.devbox({ name: 'My Box', environment_variables: { GREETING: 'hi' } })
  })
  afterAll(() => service.close())

  let count = 0
  const newName = () => `${id}-t${++count}`
  const connect = (session_name: string, query = {}) =>
    service.client.terminals.connect({ params: { session_name }, query })
  const control = (session_name: string, body: Parameters<TestService['client']['terminals']['control']>[0]['body']) =>
    service.client.terminals.control({ params: { session_name }, body })
  const open = (name = newName(), query = {}) => openTerminal(service, name, query)

  it('opens an interactive shell in the home directory', async () => {
    const { session, type, shows, text, isBinary, name, socket } = await open()
    expect(session).toMatchObject({
      created: true,
      attached: false,
      session_name: name,
      status: 'ready',
      protocol_version: '1',
      cols: 80,
      rows: 24,
      idle_ttl_seconds: 3600,
    })
    await shows(/user@My-Box/)
    type('echo $((6*7)); pwd; echo $TERM $GREETING\r')
    await shows(/[\r\n]42\r\n/)
    await shows(isolation === 'none' ? /\/home\r\n/ : /[\r\n]\/home\/user\r\n/)
    await shows(/xterm-256color hi\r\n/)
    expect(text()).not.toMatch(/no job control|cannot set terminal/)
    expect(isBinary()).toBe(true)
    socket.close()
  })

  it('has its initial size and follows a resize', async () => {
    const { type, shows, name, socket } = await open(newName(), { cols: 100, rows: 30 })
    type('stty size\r')
    await shows(/[\r\n]30 100\r\n/)
    expect(await statusOf(control(name, { action: 'resize', cols: 0, rows: 1 }))).toBe(400)
    expect(await control(name, { action: 'resize', cols: 132, rows: 43 })).toEqual({
      session_name: name,
      status: 'ready',
    })
    type('stty size\r')
    await shows(/[\r\n]43 132\r\n/)
    expect(await connect(name, { cols: 10, rows: 10 })).toMatchObject({
      created: false,
      attached: true,
      cols: 132,
      rows: 43,
    })
    socket.close()
  })

  it('signals the foreground program but not the shell', async () => {
    const { type, shows, name, socket } = await open()
    for (const signal of ['SIGSEGV', 'INT', '9', ''])
      expect(await statusOf(control(name, { action: 'signal', signal } as never))).toBe(400)
    type(
      'trap "echo shell hit" INT; bash -c \'trap "echo got it; exit" USR1; echo up; while :; do sleep 0.05; done\'\r',
    )
    await shows(/[\r\n]up\r\n/)
    await control(name, { action: 'signal', signal: 'SIGUSR1' })
    await shows(/[\r\n]got it\r\n/)
    type(`bash -c 'echo slee"p"ing; exec sleep 1000'\r`)
    await shows(/[\r\n]sleeping\r\n/)
    type('\x03')
    await shows(/\^C/)
    type('echo al"i"ve\r')
    await shows(/[\r\n]alive\r\n/)
    socket.close()
  })

  it('allows one client at a time and one use of a ticket', async () => {
    const { name, session, socket } = await open()
    const again = await connect(name)
    expect(again).toMatchObject({ created: false, attached: true })
    expect(await attach(service, again.connect_url ?? '').refused).toBe(409)
    expect(await attach(service, session.connect_url ?? '').refused).toBe(401)
    expect(session.connect_url).not.toContain(service.key)
    socket.close()
  })

  it('is closed by control with all its processes', async () => {
    const { type, shows, closed, name } = await open()
    type('sleep 4321 & echo pid=$!; sleep 1234\r')
    await shows(/pid=(\d+)\r/)
    expect(await control(name, { action: 'close' })).toEqual({ session_name: name, status: 'closed' })
    expect((await closed).code).toBe(1000)
    expect(await statusOf(control(name, { action: 'close' }))).toBe(404)
  })

  it('accepts the token of create_pty_tunnel, also as a subprotocol, for its devbox only', async () => {
    const { auth_token } = await service.client.devboxes.createPtyTunnel({ params: { id } })
    const headers = { authorization: `Bearer ${auth_token}` }
    const response = await service.fetch('/pty/any_name', { headers })
    const session = (await response.json()) as { created: boolean; connect_url: string }
    expect(session.created).toBe(true)
    expect((await service.fetch('/v1/devboxes', { headers })).status).toBe(401)
    const { socket, opened, shows } = attach(service, session.connect_url, [auth_token])
    await opened
    expect(socket.protocol).toBe(auth_token)
    await shows(/user@My-Box/)
    socket.close()
  })

  it('rejects invalid names and sizes, ignores a single size, and requires a devbox', async () => {
    const get = async (path: string) => (await service.fetch(path)).status
    expect(await get(`/pty/${'a'.repeat(257)}`)).toBe(400)
    expect(await get('/pty/a%2fb')).toBe(400)
    expect(await get('/pty/%C3%A9')).toBe(400)
    for (const query of ['cols=0&rows=1', 'cols=1001&rows=24', 'cols=x&rows=24', 'cols=1.5&rows=2'])
      expect(await get(`/pty/${id}-bad?${query}`)).toBe(400)
    expect(await (await service.fetch(`/pty/${id}-one?cols=5000`)).json()).toMatchObject({ cols: 80, rows: 24 })
    expect(await get('/pty/nowhere')).toBe(400)
    expect(await get('/pty/dbx_none-x')).toBe(400)
    expect(await statusOf(service.otherClient.terminals.connect({ params: { session_name: `${id}-one` } }))).toBe(400)
    expect(await statusOf(control(`${id}-none`, { action: 'close' }))).toBe(404)
  })

  it('buffers input that a program does not read', async () => {
    const name = newName()
    const terminal = attach(service, (await connect(name)).connect_url ?? '')
    await terminal.opened
    const typed = Buffer.from(Array.from({ length: 300_000 }, (_, i) => String(i).padStart(9, '0')).join('\n'))
    terminal.type('stty raw -echo; echo re""ady; while [ ! -e ~/go ]; do sleep 0.1; done; ')
    terminal.type(`head -c ${typed.length} | md5sum; stty sane\r`)
    await terminal.shows(/ready/)
    for (let at = 0; at < typed.length; at += 500_000) terminal.type(typed.subarray(at, at + 500_000))
    await service.run(id, 'touch ~/go')
    await terminal.shows(new RegExp(createHash('md5').update(typed).digest('hex')))
    await control(name, { action: 'close' })
  })

  it('does not leak the terminal to other processes', async () => {
    const [first, second] = [newName(), newName()]
    await connect(first)
    const terminal = attach(service, (await connect(second)).connect_url ?? '')
    await terminal.opened
    terminal.type('ls -l /proc/self/fd; echo do""ne\r')
    await terminal.shows(/done/)
    expect(terminal.text()).not.toContain('ptmx')
    const other = await service.otherClient.devboxes.createAndAwaitRunning({
      body: { launch_parameters: { launch_commands: ['ls -l /proc/self/fd > ~/launch'] } },
    })
    const { stdout } = await service.otherClient.executions.executeSync({
      params: { id: other.id },
      body: { command: 'cat ~/launch; ls -l /proc/self/fd; [ $HOME != /home/user ] || ls -l /proc/1/fd' },
    })
    expect(stdout).toContain('/dev/null')
    expect(stdout).not.toContain('ptmx')
    for (const name of [first, second]) await control(name, { action: 'close' })
  })

  it('limits the sessions of an account', async () => {
    const small = await startService({ isolation, limits: { ...defaultLimits, terminals: 3 } })
    try {
      const open = (id: string, i: number) => small.client.terminals.connect({ params: { session_name: `${id}_${i}` } })
      const [one, two] = [await small.devbox(), await small.devbox()]
      for (let i = 0; i < 3; i++) await open(i === 0 ? one : two, i)
      await expect(open(one, 3)).rejects.toMatchObject({ status: 429, retryAfterMs: 30_000 })
      await open(one, 0)
    } finally {
      await small.close()
    }
  })
})
