import { describe, expect, it } from 'vitest'
import { DevboxForm, type DevboxFormValues, emptyValues, fieldOfPath, formValuesOf } from './form-schema.ts'

const parse = (part: Partial<DevboxFormValues>) => DevboxForm.safeParse({ ...emptyValues, ...part })
const problems = (part: Partial<DevboxFormValues>) =>
  Object.fromEntries(parse(part).error?.issues.map(({ path, message }) => [path.join('.'), message]) ?? [])

describe('the form', () => {
  it('sends an empty request by default', () => {
    expect(parse({}).data).toEqual({})
  })

  it('round-trips through the request', () => {
    const values: DevboxFormValues = {
      ...emptyValues,
      name: 'web',
      source: 'snapshot',
      snapshot: 'snp_1',
      size: 'CUSTOM_SIZE',
      cpuCores: '0.5',
      memoryGb: '2',
      diskGb: '8',
      keepAlive: '10m',
      idle: 'suspend',
      idleSeconds: '1m',
      metadata: [{ key: 'env', value: 'prod' }],
      environment: [{ key: 'A', value: '' }],
      secrets: [{ key: 'TOKEN', value: 'GITHUB_TOKEN' }],
      launchCommands: 'npm ci\nnpm test',
      entrypoint: 'npm start',
      files: [{ path: '~/.npmrc', content: 'a=b\n' }],
      mounts: [
        { type: 'object_mount', id: 'obj_1', path: '~/data.tgz' },
        { type: 'agent_mount', id: 'agt_1', path: '' },
      ],
      tunnel: 'authenticated',
      networkPolicy: 'npl_1',
      gateways: [{ variable: 'GITHUB', config: 'gwc_1', secret: 'TOKEN' }],
      mcpServers: [{ variable: 'MCP_TOKEN', config: 'search', secret: 'TOKEN' }],
      architecture: 'arm64',
      tier: 'flex',
      ports: '8080, 3000',
      username: 'me',
      uid: '1001',
      services: 'db',
      suspendCommands: 'make stop',
      resumeOn: 'http axon_event',
      otherParameters: { lifecycle: { lifecycle_hooks: { suspend_deadline_ms: 500 } } },
    }
    const body = parse(values).data
    expect(body?.launch_parameters).toMatchObject({
      custom_cpu_cores: 0.5,
      after_idle: { idle_time_seconds: 60, on_idle: 'suspend' },
      available_ports: [8080, 3000],
      user_parameters: { username: 'me', uid: 1001 },
      lifecycle: {
        lifecycle_hooks: { suspend_commands: ['make stop'], suspend_deadline_ms: 500 },
        resume_triggers: { http: true, axon_event: true },
      },
    })
    expect(body).toMatchObject({
      gateways: { GITHUB: { gateway: 'gwc_1', secret: 'TOKEN' } },
      mcp: { MCP_TOKEN: { mcp_config: 'search', secret: 'TOKEN' } },
    })
    expect(formValuesOf(body ?? {})).toEqual(values)
  })

  it('takes a blueprint id or name', () => {
    for (const body of [{ blueprint_id: '1f3.x7Q~b@2' }, { blueprint_name: 'node' }])
      expect(parse(formValuesOf(body)).data).toEqual(body)
    expect(parse({ ...formValuesOf({ blueprint_name: 'node' }), blueprint: 'bpt_1' }).data).toEqual({
      blueprint_id: 'bpt_1',
    })
  })

  it('reports errors by field', () => {
    expect(Object.keys(problems({ size: 'CUSTOM_SIZE', diskGb: 'x' })).sort()).toEqual([
      'cpuCores',
      'diskGb',
      'memoryGb',
    ])
    expect(problems({ keepAlive: '49h' }).keepAlive).toBe('Enter at most 2d')
    expect(problems({ keepAlive: '90' }).keepAlive).toBe('Add a unit, such as 90m or 90h')
    expect(problems({ keepAlive: 'soon' }).keepAlive).toBe('Enter a time such as 90m, 1h 30m or 2d')
    const custom = { size: 'CUSTOM_SIZE', cpuCores: '2', memoryGb: '4' } as const
    expect(problems(custom)).toEqual({})
    expect(problems({ ...custom, cpuCores: '3' })).toEqual({ cpuCores: 'Enter 0.5, 1 or an even number up to 16' })
    expect(problems({ ...custom, memoryGb: '32' }).memoryGb).toContain('from 4 to 16 GB for 2 cores')
    expect(problems({ ...custom, diskGb: '3' })).toEqual({ diskGb: 'Enter an even number from 2 to 64' })
    expect(problems({ idle: 'shutdown' }).idleSeconds).toBe('Enter the idle time')
    expect(problems({ source: 'snapshot' }).snapshot).toBe('Select a snapshot')
    expect(problems({ files: [{ path: '', content: 'x' }] }).files).toContain('no path')
    const file = { path: 'a', content: '' }
    expect(problems({ files: [file, file] }).files).toBe('a is listed twice')
    expect(problems({ mounts: [{ type: 'object_mount', id: 'obj_1', path: ' ' }] }).mounts).toContain('path')
    expect(problems({ ports: '80, x' })).toEqual({ ports: 'Enter numbers from 1 to 65535' })
    expect(problems({ uid: '0' })).toEqual({ username: 'Enter a user name' })
    expect(problems({ gateways: [{ variable: 'A', config: '', secret: '' }] }).gateways).toContain('row 1')
    expect(problems({ secrets: [{ key: '', value: 'x' }] }).secrets).toContain('no key')
  })
})

it('maps request paths to fields', () => {
  expect(fieldOfPath('launch_parameters.launch_commands[2]')).toBe('launchCommands')
  expect(fieldOfPath('secrets.TOKEN')).toBe('secrets')
  expect(fieldOfPath('launch_parameters.after_idle.idle_time_seconds')).toBe('idleSeconds')
  expect(fieldOfPath('names')).toBeUndefined()
})
