import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeUnderEachIsolation } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { attach, openTerminal } from '#lib/service/testing/terminals.ts'

describeUnderEachIsolation('hostile use of terminals under isolation', (isolation) => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation })
    id = (await service.client.devboxes.createAndAwaitRunning({ body: {} })).id
  })
  afterAll(() => service.close())

  type Control = Parameters<TestService['client']['terminals']['control']>[0]['body']
  const control = (session_name: string, body: Control) =>
    service.client.terminals.control({ params: { session_name }, body })
  const connect = (session_name: string) => service.client.terminals.connect({ params: { session_name } })
  const ofEach = <T>(count: number, work: (i: number) => Promise<T>) =>
    Promise.allSettled(Array.from({ length: count }, (_, i) => work(i)))

  it('many resizes during a flood end with the last size', async () => {
    const { name, type, shows, socket } = await openTerminal(service, `${id}-storm`)
    type('yes\r')
    await shows(/y\r\ny\r\n/)
    const sizes = await ofEach(300, (i) =>
      control(name, { action: 'resize', cols: i % 2 ? 1 : 1000, rows: i % 3 ? 1 : 1000 }),
    )
    expect(sizes.filter(({ status }) => status === 'rejected')).toEqual([])
    await control(name, { action: 'resize', cols: 1000, rows: 1000 })
    type('\x03')
    type('stty size\r')
    await shows(/\r1000 1000\r\n/)
    for (const [cols, rows] of [
      [0, 1],
      [1001, 1],
      [1, -1],
      [1.5, 2],
    ])
      await expect(control(name, { action: 'resize', cols: cols ?? 0, rows: rows ?? 0 })).rejects.toMatchObject({
        status: 400,
      })
    socket.close()
  })

  it('signals reach the foreground process; unknown ones are rejected', async () => {
    const { name, type, shows, closed } = await openTerminal(service, `${id}-signals`)
    for (const signal of ['SIGSEGV', 'INT', 'sigint', '9', '', 'SIGRTMIN'])
      await expect(control(name, { action: 'signal', signal } as Control)).rejects.toMatchObject({ status: 400 })
    type(`bash -c 'trap "echo in""t" INT; trap "echo term" TERM; echo rea""dy; while :; do sleep 0.02; done'\r`)
    await shows(/ready\r\n/)
    await control(name, { action: 'signal', signal: 'SIGINT' })
    await shows(/int\r\n/)
    await control(name, { action: 'signal', signal: 'SIGKILL' })
    await shows(/Killed/)
    await control(name, { action: 'signal', signal: 'SIGKILL' })
    expect((await closed).code).toBe(1011)
    await expect(control(name, { action: 'signal', signal: 'SIGINT' })).rejects.toMatchObject({ status: 404 })
  })

  it('concurrent opens, clients and closes leave one working shell', async () => {
    const name = `${id}-race`
    await ofEach(60, async (i) => {
      if (i % 3 === 2) return control(name, { action: 'close' })
      const { connect_url } = await connect(name)
      const client = attach(service, connect_url ?? '')
      await Promise.race([client.opened, client.refused])
      client.socket.terminate()
    })
    const { type, shows, socket } = await openTerminal(service, name)
    type('echo st"ill"\r')
    await shows(/\rstill\r\n/)
    socket.close()
  })

  it('the end of a devbox is reported to attached, pending and later clients', async () => {
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const attached = await Promise.all(Array.from({ length: 20 }, (_, i) => openTerminal(service, `${id}-${i}`)))
    const { connect_url } = await connect(`${id}-late`)
    await service.client.devboxes.shutdown({ params: { id } })
    const expected = { code: 4001, reason: 'The devbox was shut down' }
    expect(await Promise.all(attached.map(({ closed }) => closed))).toEqual(attached.map(() => expected))
    expect(await attach(service, connect_url ?? '').refused).toBe(401)
    await expect(connect(`${id}-then`)).rejects.toMatchObject({ status: 400 })
  })

  it('a client that types faster than a program reads is paused', async () => {
    const { type, shows, socket, name } = await openTerminal(service, `${id}-typing`)
    type('stty raw -echo; echo rea""dy; head -c 3000000 | tail -c 5; stty sane\r')
    await shows(/ready/)
    for (let sent = 0; sent < 30; sent++) type(Buffer.alloc(100_000, 'x'))
    type('and then more')
    await shows(/xxxxx/)
    expect(socket.readyState).toBe(socket.OPEN)
    await control(name, { action: 'close' })
  })
})
