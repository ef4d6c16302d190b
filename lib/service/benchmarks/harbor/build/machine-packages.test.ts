import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { isAlreadyInstalled, programsOf } from './machine-packages.ts'

const has = (name: string) => spawnSync('dpkg-query', ['-W', name]).status === 0

describe.skipIf(!has('git'))('what installs of git bring', () => {
  it.each([
    'apt-get install git',
    'apt-get -t bookworm install -y git',
    'apt-get install -o Dpkg::Options::=--force-confold -t stable -y git',
    'apt install git=1:2.39.*',
    'aptitude install -y git/stable',
    'apt-get -qqy install git:amd64',
  ])('detects git in %s', async (call) => {
    expect((await programsOf([call])).has('git')).toBe(true)
  })

  it('ignores calls for other packages', async () => {
    expect((await programsOf(['apt-get -t git install -y no-such', 'pip install git'])).size).toBe(0)
    expect(await isAlreadyInstalled('apt-get install git:amd64')).toBe(true)
    expect(await isAlreadyInstalled('apt-get install git=0.1')).toBe(false)
  })
})

it.skipIf(!has('python3-pip') || !has('build-essential'))(
  'brings what is recommended unless it is not to',
  async () => {
    const brings = async (call: string) => (await programsOf([call])).has('cc')
    expect(await brings('apt-get install -y python3-pip')).toBe(true)
    expect(await brings('apt-get install -y --no-install-recommends python3-pip')).toBe(false)
    expect(await brings('apt-get -o APT::Install-Recommends=0 install -y python3-pip')).toBe(false)
  },
)
