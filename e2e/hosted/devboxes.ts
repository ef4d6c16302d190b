import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Call, compact, eventStream, Failure, type Json, newId, page, type Routes } from './http.ts'

interface Execution {
  record: Json
  output: { stdout: string; stderr: string }
  child: ChildProcess
  ended: Promise<void>
  wake: Set<() => void>
}

export interface Devbox {
  record: Json & { status: string; state_transitions: Json[] }
  home: string
  logs: Json[]
  executions: Map<string, Execution>
}

const idleMs = 5_000
const startMs = 300

export const devboxRoutes = () => {
  const folder = mkdtempSync(join(tmpdir(), 'hosted-'))
  const devboxes = new Map<string, Devbox>()
  const snapshots: Json[] = []
  const tokens = new Map<string, Devbox>()
  const evictions = new Map<string, Json>()
  const watchers = new Set<(eviction: Json) => void>()
  const timers = new Set<NodeJS.Timeout>()

  const move = (devbox: Devbox, status: string, more: Json = {}) => {
    devbox.record.status = status
    devbox.record.state_transitions.push({ status, transition_time_ms: Date.now(), host: 'ip-10-0-0-1' })
    Object.assign(devbox.record, more)
  }
  const later = (work: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, startMs)
    timers.add(timer)
  }
  const create = (body: Json): Devbox => {
    const id = newId()
    const home = join(folder, String(devboxes.size))
    mkdirSync(home)
    const { name, metadata = {}, launch_parameters, blueprint_id, snapshot_id, gateways, mcp, tunnel } = body
    const record = compact({
      id,
      name,
      status: 'provisioning',
      create_time_ms: Date.now(),
      launch_parameters: {
        resource_size_request: 'SMALL',
        keep_alive_time_seconds: 3600,
        ...(launch_parameters as Json),
      },
      metadata,
      capabilities: ['unknown', 'teleportation'],
      state_transitions: [{ status: 'provisioning', transition_time_ms: Date.now() }],
      blueprint_id,
      snapshot_id,
      gateway_specs:
        gateways && mapOf(gateways, ({ gateway, secret }) => ({ gateway_config_id: gateway, secret_id: secret })),
      mcp_specs: mcp && mapOf(mcp, ({ mcp_config, secret }) => ({ mcp_config_id: mcp_config, secret_id: secret })),
      tunnel: tunnel && newTunnel(tunnel as Json),
      datacenter: { zone: 'eu-7', rack: 4 },
    }) as Devbox['record']
    const devbox: Devbox = { record, home, logs: [], executions: new Map() }
    devboxes.set(id, devbox)
    return devbox
  }
  const start = (devbox: Devbox) =>
    later(() => {
      if (['provisioning', 'resuming'].includes(devbox.record.status)) move(devbox, 'running')
    })
  const get = (id = ''): Devbox => {
    const devbox = devboxes.get(id)
    if (!devbox) throw new Failure(404, 'Devbox not found')
    return devbox
  }
  const running = (id: string | undefined): Devbox => {
    const devbox = get(id)
    if (devbox.record.status !== 'running') throw new Failure(400, `Devbox is ${devbox.record.status}, not running`)
    return devbox
  }
  const pathIn = (devbox: Devbox, path: unknown) =>
    join(devbox.home, String(path).replace(/^~\//, '').replace(devbox.home, ''))

  const execute = (devbox: Devbox, command: string, id: string): Execution => {
    const child = spawn('bash', ['-c', command], {
      cwd: devbox.home,
      env: { PATH: process.env.PATH, HOME: devbox.home, LANG: 'C.UTF-8' } as unknown as NodeJS.ProcessEnv,
      detached: true,
    })
    const record: Json = { devbox_id: devbox.record.id, execution_id: id, status: 'running', lane: 'blue' }
    const output = { stdout: '', stderr: '' }
    const log = (more: Json) =>
      devbox.logs.push({ level: 'INFO', source: 'exec', timestamp_ms: Date.now(), cmd_id: id, ...more })
    log({ cmd: command })
    const wake = new Set<() => void>()
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (chunk: Buffer) => {
        output[stream] += chunk
        for (const message of String(chunk).split('\n')) if (message) log({ message })
        for (const each of wake) each()
      })
    const ended = new Promise<void>((resolve) =>
      child.once('close', (code, signal) => {
        Object.assign(record, { status: 'completed', exit_status: code ?? (signal ? 137 : 1), ...output })
        log({ exit_code: record.exit_status })
        resolve()
        for (const each of wake) each()
      }),
    )
    const execution = { record, output, child, ended, wake }
    devbox.executions.set(id, execution)
    return execution
  }
  const executionOf = ([devboxId, id = '']: string[]): Execution => {
    const execution = get(devboxId).executions.get(id)
    if (!execution) throw new Failure(404, 'Execution not found')
    return execution
  }
  const within = async (execution: Execution, seconds: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, seconds * 1000)
    await Promise.race([execution.ended, promise])
    clearTimeout(timer)
    return execution.record
  }
  const follow = (call: Call, stream: 'stdout' | 'stderr') => {
    const execution = executionOf(call.at)
    let sent = Number(call.query.get('offset') ?? 0)
    const events = eventStream(call, idleMs)
    const flush = () => {
      const bytes = Buffer.from(execution.output[stream])
      if (bytes.length > sent) events.send({ output: String(bytes.subarray(sent)), offset: bytes.length })
      sent = bytes.length
      if (execution.record.status === 'completed') events.finish()
    }
    execution.wake.add(flush)
    void events.closed.then(() => execution.wake.delete(flush))
    flush()
  }
  const snapshot = (id: string | undefined, { name, metadata, commit_message }: Json): Json => {
    const record = compact({
      id: newId(),
      name,
      commit_message,
      metadata: metadata ?? {},
      source_devbox_id: get(id).record.id,
      create_time_ms: Date.now(),
      encryption: 'kms',
    })
    snapshots.unshift(record)
    return record
  }
  const snapshotOf = (id: string | undefined) => {
    const found = snapshots.find((each) => each.id === id)
    if (!found) throw new Failure(404, 'Snapshot not found')
    return found
  }
  const stop = (devbox: Devbox) => {
    for (const { child, record } of devbox.executions.values())
      if (record.status === 'running' && child.pid) process.kill(-child.pid, 'SIGKILL')
  }

  const routes: Routes = {
    'GET /v1/devboxes': ({ query }) => {
      const status = query.get('status')
      const rows = [...devboxes.values()].map(({ record }) => record).reverse()
      return page('devboxes', status ? rows.filter((row) => row.status === status) : rows, query)
    },
    'POST /v1/devboxes': ({ body }) => {
      const devbox = create(body)
      start(devbox)
      return devbox.record
    },
    'POST /v1/devboxes/create_and_await_running': async ({ body }) => {
      const devbox = create(body)
      move(devbox, 'running')
      return devbox.record
    },
    'GET /v1/devboxes/*': ({ at: [id] }) => get(id).record,
    'POST /v1/devboxes/*': ({ at: [id], body }) => Object.assign(get(id).record, compact(body)),
    'POST /v1/devboxes/*/wait_for_status': async ({ at: [id], body }) => {
      const devbox = get(id)
      const deadlineMs = Date.now() + Math.min(Number(body.timeout_seconds ?? 10), 10) * 1000
      while (!(body.statuses as string[]).includes(devbox.record.status)) {
        if (Date.now() > deadlineMs) throw new Failure(408, 'Timed out')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return devbox.record
    },
    'POST /v1/devboxes/*/suspend': ({ at: [id] }) => {
      const devbox = running(id)
      move(devbox, 'suspending')
      later(() => {
        stop(devbox)
        move(devbox, 'suspended')
      })
      evictions.delete(String(devbox.record.id))
      return devbox.record
    },
    'POST /v1/devboxes/*/resume': ({ at: [id] }) => {
      const devbox = get(id)
      if (devbox.record.status !== 'suspended') throw new Failure(400, 'Devbox is not suspended')
      move(devbox, 'resuming')
      start(devbox)
      return devbox.record
    },
    'POST /v1/devboxes/*/shutdown': ({ at: [id] }) => {
      const devbox = get(id)
      stop(devbox)
      if (devbox.record.status !== 'shutdown')
        move(devbox, 'shutdown', { shutdown_reason: 'api_shutdown', end_time_ms: Date.now() })
      return devbox.record
    },
    'POST /v1/devboxes/*/keep_alive': ({ at: [id] }) => {
      running(id)
      return {}
    },
    'GET /v1/devboxes/*/usage': ({ at: [id] }) => {
      const { status, create_time_ms } = get(id).record
      const seconds = Math.round((Date.now() - Number(create_time_ms)) / 1000)
      return {
        id,
        status,
        start_time_ms: create_time_ms,
        total_active_seconds: seconds,
        total_elapsed_seconds: seconds,
        vcpu_seconds: seconds,
        memory_gb_seconds: seconds * 2,
        disk_gb_seconds: seconds * 4,
        carbon_grams: 1,
      }
    },
    'GET /v1/devboxes/*/logs': ({ at: [id], query }) => {
      const execution = query.get('execution_id')
      return { logs: get(id).logs.filter(({ cmd_id }) => !execution || cmd_id === execution) }
    },
    'POST /v1/devboxes/*/execute': async ({ at: [id], body }) =>
      within(
        execute(running(id), String(body.command), String(body.command_id ?? newId())),
        Number(body.optimistic_timeout ?? 25),
      ),
    'POST /v1/devboxes/*/execute_async': ({ at: [id], body }) =>
      execute(running(id), String(body.command), newId()).record,
    'POST /v1/devboxes/*/execute_sync': async ({ at: [id], body }) => {
      const { devbox_id, stdout, stderr, exit_status } = await within(
        execute(running(id), String(body.command), newId()),
        60,
      )
      return { devbox_id, stdout, stderr, exit_status }
    },
    'GET /v1/devboxes/*/executions/*': ({ at }) => executionOf(at).record,
    'POST /v1/devboxes/*/executions/*/wait_for_status': async ({ at, body }) => {
      const record = await within(executionOf(at), Math.min(Number(body.timeout_seconds ?? 25), 25))
      if (!(body.statuses as string[]).includes(String(record.status))) throw new Failure(408, 'Timed out')
      return record
    },
    'POST /v1/devboxes/*/executions/*/kill': ({ at }) => {
      const { child, record } = executionOf(at)
      if (record.status === 'running' && child.pid) process.kill(-child.pid, 'SIGKILL')
      return record
    },
    'POST /v1/devboxes/*/executions/*/send_std_in': ({ at, body }) => {
      const { child, record } = executionOf(at)
      if (body.text) child.stdin?.write(String(body.text))
      if (body.signal === 'EOF') child.stdin?.end()
      return { devbox_id: record.devbox_id, execution_id: record.execution_id, success: true }
    },
    'GET /v1/devboxes/*/executions/*/stream_stdout_updates': (call) => follow(call, 'stdout'),
    'GET /v1/devboxes/*/executions/*/stream_stderr_updates': (call) => follow(call, 'stderr'),
    'POST /v1/devboxes/*/read_file_contents': ({ at: [id], body, response }) => {
      const content = read(pathIn(running(id), body.file_path))
      response.writeHead(200, { 'content-type': 'text/plain' }).end(content)
    },
    'POST /v1/devboxes/*/write_file_contents': ({ at: [id], body }) => {
      const devbox = running(id)
      const path = pathIn(devbox, body.file_path)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, String(body.contents))
      return { devbox_id: devbox.record.id, exit_status: 0, stdout: '', stderr: '' }
    },
    'POST /v1/devboxes/*/download_file': ({ at: [id], body, response }) => {
      const content = read(pathIn(running(id), body.path))
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(content)
    },
    'POST /v1/devboxes/*/upload_file': async ({ at: [id], raw, request }) => {
      const headers = { 'content-type': request.headers['content-type'] ?? '' }
      const form = await new Response(new Uint8Array(raw), { headers }).formData()
      const path = pathIn(running(id), form.get('path'))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, new Uint8Array(await (form.get('file') as File).arrayBuffer()))
      return {}
    },
    'POST /v1/devboxes/*/enable_tunnel': ({ at: [id], body }) => {
      const devbox = running(id)
      if (devbox.record.tunnel) throw new Failure(400, 'Devbox has a tunnel already')
      devbox.record.tunnel = newTunnel(body)
      return devbox.record.tunnel
    },
    'POST /v1/devboxes/*/remove_tunnel': ({ at: [id] }) => {
      delete get(id).record.tunnel
      return {}
    },
    'POST /v1/devboxes/*/create_pty_tunnel': ({ at: [id] }) => {
      const devbox = running(id)
      const auth_token = `tok.${tokens.size}.${Date.now().toString(36)}`
      tokens.set(auth_token, devbox)
      return { tunnel_key: `key${tokens.size}`, auth_token }
    },
    'GET /v1/devboxes/evictions/watch': (call) => {
      const stream = eventStream(call, idleMs)
      for (const eviction of evictions.values()) stream.send(eviction)
      watchers.add(stream.send)
      void stream.closed.then(() => watchers.delete(stream.send))
    },
    'POST /v1/devboxes/*/snapshot_disk': ({ at: [id], body }) => snapshot(id, body),
    'POST /v1/devboxes/*/snapshot_disk_async': ({ at: [id], body }) => snapshot(id, body),
    'GET /v1/devboxes/disk_snapshots': ({ query }) => {
      const devbox = query.get('devbox_id')
      return page(
        'snapshots',
        snapshots.filter((each) => !devbox || each.source_devbox_id === devbox),
        query,
      )
    },
    'GET /v1/devboxes/disk_snapshots/*/status': ({ at: [id] }) => ({ status: 'complete', snapshot: snapshotOf(id) }),
    'POST /v1/devboxes/disk_snapshots/*': ({ at: [id], body }) => Object.assign(snapshotOf(id), compact(body)),
    'POST /v1/devboxes/disk_snapshots/*/delete': ({ at: [id] }) => {
      snapshots.splice(snapshots.indexOf(snapshotOf(id)), 1)
      return {}
    },
  }

  return {
    routes,
    create,
    move,
    snapshot,
    devboxOfToken: (token: string) => tokens.get(token),
    log: (id: string, record: Json) => void get(id).logs.push({ level: 'INFO', ...record }),
    evict: (id: string, deadlineMs: number) => {
      const eviction = { devbox_id: id, eviction_deadline_ms: deadlineMs, reason_code: 'spot' }
      evictions.set(id, eviction)
      for (const send of watchers) send(eviction)
    },
    close: () => {
      for (const timer of timers) clearTimeout(timer)
      for (const devbox of devboxes.values()) stop(devbox)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const read = (path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch {
    throw new Failure(404, 'File not found')
  }
}

const mapOf = (value: unknown, change: (each: Json) => Json): Json =>
  Object.fromEntries(Object.entries(value as Record<string, Json>).map(([key, each]) => [key, change(each)]))

const newTunnel = ({ auth_mode = 'open', http_keep_alive = true, wake_on_http = false }: Json): Json =>
  compact({
    tunnel_key: `t${Date.now().toString(36)}`,
    auth_mode,
    http_keep_alive,
    wake_on_http,
    create_time_ms: Date.now(),
    auth_token: auth_mode === 'authenticated' ? 'tunnel.token' : undefined,
    pop: 'FRA',
  })
