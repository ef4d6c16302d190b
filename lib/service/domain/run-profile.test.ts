import { describe, expect, it } from 'vitest'
import { mergeProfiles, unmetNeeds } from './run-profile.ts'

describe('a run profile over another', () => {
  it('replaces value by value, and adds commands and mounts behind', () => {
    const under = {
      envVars: { A: 'under', B: 'under' },
      secrets: { S: 'ONE' },
      purpose: 'nightly',
      launchParameters: { keep_alive_time_seconds: 60, launch_commands: ['first'], custom_cpu_cores: 2 },
      mounts: [{ type: 'file_mount', target: 'a', content: '' }],
    }
    const over = {
      envVars: { B: 'over' },
      secrets: { S: 'TWO', T: 'THREE' },
      launchParameters: { keep_alive_time_seconds: 90, launch_commands: ['second'], custom_cpu_cores: null },
      mounts: [{ type: 'file_mount', target: 'b', content: '' }],
    }
    expect(mergeProfiles(under, over)).toEqual({
      envVars: { A: 'under', B: 'over' },
      secrets: { S: 'TWO', T: 'THREE' },
      purpose: 'nightly',
      launchParameters: { keep_alive_time_seconds: 90, launch_commands: ['first', 'second'], custom_cpu_cores: 2 },
      mounts: [...under.mounts, ...over.mounts],
    })
  })

  it('may be nothing on nothing', () => {
    expect(mergeProfiles({}, {})).toEqual({ envVars: {}, secrets: {}, purpose: null, launchParameters: {}, mounts: [] })
  })
})

describe('what a run is not given', () => {
  const needs = { required_environment_variables: ['HOME_URL', 'KEY'], required_secret_names: ['TOKEN', 'DB_PASS'] }

  it('is told name by name', () => {
    expect(unmetNeeds(needs, { envVars: { HOME_URL: '' } }).map(({ message }) => message)).toEqual([
      'needs a value for KEY',
      'needs the secret TOKEN',
      'needs the secret DB_PASS',
    ])
  })

  it('is nothing once a variable, a secret in it or the secret itself has the name', () => {
    expect(unmetNeeds(needs, { envVars: { HOME_URL: 'x' }, secrets: { KEY: 'TOKEN', DB_PASS: 'PG' } })).toEqual([])
    expect(unmetNeeds({}, {})).toEqual([])
  })
})
