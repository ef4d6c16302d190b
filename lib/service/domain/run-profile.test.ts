import { describe, expect, it } from 'vitest'
import { mergeProfiles, unmetNeeds } from './run-profile.ts'

describe('merging run profiles', () => {
  it('overrides values and appends commands and mounts', () => {
    const base = {
      envVars: { A: 'base', B: 'base' },
      secrets: { S: 'ONE' },
      purpose: 'nightly',
      launchParameters: { keep_alive_time_seconds: 60, launch_commands: ['first'], custom_cpu_cores: 2 },
      mounts: [{ type: 'file_mount', target: 'a', content: '' }],
    }
    const override = {
      envVars: { B: 'override' },
      secrets: { S: 'TWO', T: 'THREE' },
      launchParameters: { keep_alive_time_seconds: 90, launch_commands: ['second'], custom_cpu_cores: null },
      mounts: [{ type: 'file_mount', target: 'b', content: '' }],
    }
    expect(mergeProfiles(base, override)).toEqual({
      envVars: { A: 'base', B: 'override' },
      secrets: { S: 'TWO', T: 'THREE' },
      purpose: 'nightly',
      launchParameters: { keep_alive_time_seconds: 90, launch_commands: ['first', 'second'], custom_cpu_cores: 2 },
      mounts: [...base.mounts, ...override.mounts],
    })
  })
})

describe('unmet needs', () => {
  const needs = { required_environment_variables: ['HOME_URL', 'KEY'], required_secret_names: ['TOKEN', 'DB_PASS'] }

  it('are listed by name', () => {
    expect(unmetNeeds(needs, { envVars: { HOME_URL: '' } }).map(({ message }) => message)).toEqual([
      'must include KEY',
      'must include secret TOKEN',
      'must include secret DB_PASS',
    ])
  })

  it('are met by a variable, a secret in a variable, or the name of a secret', () => {
    expect(unmetNeeds(needs, { envVars: { HOME_URL: 'x' }, secrets: { KEY: 'TOKEN', DB_PASS: 'PG' } })).toEqual([])
    expect(unmetNeeds({}, {})).toEqual([])
  })
})
