import { describe, expect, it } from 'vitest'
import type { Blueprint } from '#lib/contract/blueprints.ts'
import {
  BlueprintForm,
  type BlueprintFormValues,
  blueprintFieldOf,
  blueprintValuesLike,
  emptyBlueprint,
} from './form-schema.ts'

const parse = (part: Partial<BlueprintFormValues>) => BlueprintForm.safeParse({ ...emptyBlueprint, ...part })
const problems = (part: Partial<BlueprintFormValues>) =>
  Object.fromEntries(parse(part).error?.issues.map(({ path, message }) => [path.join('.'), message]) ?? [])
const blueprint = (parameters: Blueprint['parameters']): Blueprint => ({
  id: 'bpt_1',
  name: parameters.name,
  create_time_ms: 0,
  parameters,
  state: 'created',
  status: 'failed',
  metadata: { team: 'a' },
})

describe('the form', () => {
  it('sends only what was entered', () => {
    expect(parse({ name: ' tools ' }).data).toEqual({ name: 'tools' })
    expect(parse({ name: 'tools', base: 'blueprint', baseBlueprint: 'bpt_1' }).data).toEqual({
      name: 'tools',
      base_blueprint_id: 'bpt_1',
    })
  })

  it('sends one command per line, and continues after a backslash', () => {
    const setupCommands = 'apt-get install \\\n  git \\\n  curl\n\n  npm ci'
    expect(parse({ name: 'a', setupCommands }).data?.system_setup_commands).toEqual([
      'apt-get install \\\n  git \\\n  curl',
      'npm ci',
    ])
  })

  it('reports errors by field', () => {
    expect(Object.keys(problems({ base: 'blueprint', size: 'CUSTOM_SIZE' })).sort()).toEqual([
      'baseBlueprint',
      'cpuCores',
      'memoryGb',
      'name',
    ])
    expect(problems({ name: 'a', buildArguments: [{ key: '', value: 'x' }] }).buildArguments).toContain('no key')
  })
})

it('builds the same parameters again', () => {
  const parameters = {
    name: 'node',
    base_blueprint_name: 'debian',
    dockerfile: 'FROM node:22\nRUN node --version\n',
    system_setup_commands: ['npm ci', 'npm \\\n  test'],
    file_mounts: { '~/.npmrc': 'a=b\n' },
    build_args: { VERSION: '1' },
    secrets: { TOKEN: 'NPM_TOKEN' },
    services: [{ name: 'db', image: 'postgres' }],
    launch_parameters: { launch_commands: ['npm start'], keep_alive_time_seconds: 60, available_ports: [80] },
  }
  expect(BlueprintForm.parse(blueprintValuesLike(blueprint(parameters)))).toEqual({
    ...parameters,
    metadata: { team: 'a' },
  })
})

it('keeps commands that the text field cannot show', () => {
  const system_setup_commands = ['cat <<END\ntext\nEND', ' true']
  const values = blueprintValuesLike(blueprint({ name: 'a', system_setup_commands }))
  expect(values.setupCommands).toBe('')
  expect(BlueprintForm.parse(values).system_setup_commands).toEqual(system_setup_commands)
})

it('maps request paths to fields', () => {
  expect(blueprintFieldOf('dockerfile')).toBe('dockerfile')
  expect(blueprintFieldOf('system_setup_commands[2]')).toBe('setupCommands')
  expect(blueprintFieldOf('launch_parameters.keep_alive_time_seconds')).toBe('keepAlive')
  expect(blueprintFieldOf('services')).toBeUndefined()
})
