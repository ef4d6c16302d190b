import { describe, expect, it } from 'vitest'
import { DevboxCreate } from '#lib/contract/devboxes.ts'
import { type DevboxDraft, draftFieldOf, draftOf, emptyDraft, readDraft } from './devbox-draft.ts'

const read = (part: Partial<DevboxDraft>) => readDraft({ ...emptyDraft, ...part })

describe('a draft', () => {
  it('that is empty asks for nothing', () => {
    expect(read({})).toEqual({ problems: {}, body: {} })
  })

  it('comes back from the call it makes', () => {
    const draft: DevboxDraft = {
      ...emptyDraft,
      name: 'web',
      source: 'snapshot',
      snapshot: 'snp_1',
      size: 'CUSTOM_SIZE',
      cpuCores: '0.5',
      memoryGb: '2',
      diskGb: '8',
      keepAlive: '600',
      idle: 'suspend',
      idleSeconds: '60',
      metadata: [{ key: 'env', value: 'prod' }],
      environment: [{ key: 'A', value: '' }],
      secrets: [{ key: 'TOKEN', value: 'GITHUB_TOKEN' }],
      launchCommands: 'npm ci\nnpm test',
      entrypoint: 'npm start',
      files: [{ path: '~/.npmrc', content: 'a=b\n' }],
      tunnel: 'authenticated',
      networkPolicy: 'npl_1',
      otherParameters: { available_ports: [8080] },
    }
    const { body, problems } = readDraft(draft)
    expect(problems).toEqual({})
    expect(DevboxCreate.parse(body)).toEqual(body)
    expect(body?.launch_parameters).toMatchObject({
      custom_cpu_cores: 0.5,
      after_idle: { idle_time_seconds: 60, on_idle: 'suspend' },
      available_ports: [8080],
    })
    expect(draftOf(body ?? {})).toEqual(draft)
  })

  it('names a blueprint by its id or its name', () => {
    expect(read({ source: 'blueprint', blueprint: 'bpt_1' }).body).toEqual({ blueprint_id: 'bpt_1' })
    expect(read({ source: 'blueprint', blueprint: 'node' }).body).toEqual({ blueprint_name: 'node' })
  })

  it('says at each field what stands against it', () => {
    expect(Object.keys(read({ size: 'CUSTOM_SIZE', diskGb: 'x' }).problems).sort()).toEqual([
      'cpuCores',
      'diskGb',
      'memoryGb',
    ])
    expect(read({ keepAlive: '172801' }).problems.keepAlive).toContain('172800')
    expect(read({ idle: 'shutdown' }).problems.idleSeconds).toBe('A time is needed')
    expect(read({ source: 'snapshot' }).problems.snapshot).toBe('A snapshot is needed')
    expect(read({ files: [{ path: '', content: 'x' }] }).problems.files).toContain('no path')
    const twice = { path: 'a', content: '' }
    expect(read({ files: [twice, twice] }).problems.files).toBe('a is given twice')
    expect(read({ secrets: [{ key: '', value: 'x' }] }).problems.secrets).toContain('no key')
  })
})

it('finds the field a refusal names', () => {
  expect(draftFieldOf('launch_parameters.launch_commands[2]')).toBe('launchCommands')
  expect(draftFieldOf('secrets.TOKEN')).toBe('secrets')
  expect(draftFieldOf('launch_parameters.after_idle.idle_time_seconds')).toBe('idleSeconds')
  expect(draftFieldOf('names')).toBeUndefined()
})
