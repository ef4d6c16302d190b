import { describe, expect, it } from 'vitest'
import { mask } from './mask.ts'
import { maskingRecord, maskingYaml, maskText } from './secrets.ts'

const done = <T>(steps: Generator<void, T>): T => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
const maskRecord = (record: unknown) => done(maskingRecord(record))
const maskYaml = (yaml: string) => done(maskingYaml(yaml))

/** Secrets in the formats of job files and environments. */
const s = 'SENTINEL_9f3'
const random = 'q7Zp1XvB9sK3mT5wY8rL2nD6'
const leaks: [string, string, string][] = [
  ['api_key', s, s],
  ['apiKey', s, s],
  ['x-api-key', s, s],
  ['accessToken', s, s],
  ['client_secret', s, s],
  ['DB_PASSWORD', s, s],
  ['PGPASSWORD', s, s],
  ['pwd', s, s],
  ['passphrase', s, s],
  ['auth', s, s],
  ['Authorization', `Bearer ${s}`, s],
  ['session_cookie', s, s],
  ['AWS_SECRET_ACCESS_KEY', s, s],
  ['credentials', s, s],
  ['SENTRY_DSN', `https://${s}@o1.example.com/1`, s],
  ['JWT', s, s],
  ['DATABASE_URL', `postgres://me:${s}@db/x`, s],
  ['REDIS', `redis://:${s}@cache:6379/0`, s],
  ['PROXY', `http://u:p@${s}@host/`, s],
  ['GIT', `https://${random}@example.com/r.git`, random],
  ['CALLBACK', `https://example.com/hook?token=${s}&x=1`, s],
  ['CALLBACK', `https://hooks.slack.com/services/T0/B0/${s}`, s],
  ['anything', `sk-${s}`, s],
  ['anything', `ghp_${s}`, s],
  ['anything', `github_pat_${s}`, s],
  ['anything', `glpat-${s}`, s],
  ['anything', `xoxb-${s}`, s],
  ['anything', `hf_${s}`, s],
  ['anything', 'AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE'],
  ['anything', `eyJhbGciOiJIUzI1.${s}.x`, s],
  ['anything', `-----BEGIN RSA PRIVATE KEY-----\n${s}\n-----END RSA PRIVATE KEY-----`, s],
  ['anything', random, random],
  ['anything', '0123456789abcdef0123456789abcdef', '0123456789abcdef'],
  ['command', `curl -H "Authorization: Bearer ${s}" https://x`, s],
  ['command', `export API_KEY=${s} && run`, s],
  ['command', `agent --api-key ${s} --fast`, s],
  ['command', `agent --password=${s}`, s],
  ['config', `{"api_key": "${s}", "mode": "fast"}`, s],
  ['connection', `Server=db;User=me;Password=${s};`, s],
  ['connection', `me:${s}@tcp(db:3306)/x`, s],
  ['apiKey2', s, s],
  ['STRIPE_SK', s, s],
  ['wallet_mnemonic', s, s],
  ['csrf', s, s],
  ['command', `curl -u me:${s} https://x`, s],
  ['netrc', `machine example.org login me password ${s}`, s],
  ['escaped', JSON.stringify(JSON.stringify({ password: s })), s],
  ['escaped', JSON.stringify({ deep: JSON.stringify({ deep: JSON.stringify({ api_key: s }) }) }), s],
  ['python', `os.environ["API_KEY"] = "${s}"`, s],
  ['xml', `<settings><password>${s}</password></settings>`, s],
  ['hash', `password => '${s}'`, s],
  ['go', `password := "${s}"`, s],
  ['xml', `<add key="password" value="${s}"/>`, s],
  ['xml', JSON.stringify(`<add key="password" value="${s}"/>`), s],
  ['GIT', `https://${s}:x-oauth-basic@example.com/r.git`, s],
  ['command', `mysql -u root -p${s} -e "select 1"`, s],
  ['command', `sshpass -p ${s} ssh host`, s],
  ['password[]', s, s],
  ['\uFF50\uFF41\uFF53\uFF53\uFF57\uFF4F\uFF52\uFF44', s, s],
  ['bot', `123456789:AA${random}xxxxxxxxx`, random],
]

const plain: [string, string][] = [
  ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/bin:/bin'],
  ['PWD', '/work'],
  ['KEYBOARD', 'us'],
  ['API_KEY', ''],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as job files write it
  ['API_KEY', '${API_KEY}'],
  ['URL', 'https://example.org/x?page=2'],
  ['max_tokens', '4096'],
  ['tokenizer', 'cl100k_base'],
  ['temperature', '0.7'],
  ['model_name', 'claude-sonnet-4-5-20250929'],
  ['model', 'meta-llama/Llama-3.3-70B-Instruct-Turbo'],
  ['base', 'accounts/fireworks/models/qwen2p5-coder-32b-instruct'],
  ['name', 'gpt-4.1-2025-04-14'],
  ['id', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'],
  ['command', 'python -m pytest -q tests/test_outputs.py --maxfail 3'],
  ['SSH_KEY_PATH', '/root/.ssh/id_ed25519'],
  ['command', 'docker run -u 1000:1000 image'],
  ['document', '<h1>Password</h1><name>a word</name>'],
  ['python', 'os.environ["MODE"] = "fast"'],
  ['command', 'mysql -P 3306 -u root --protocol=tcp'],
  ['go', 'mode := "fast"'],
  ['prompt', 'Solve the task in /app, then run the tests: be brief.'],
]

it.each(leaks)('%s=%s is hidden in a record and in a job file', (name, value, secret) => {
  const config = { [name]: value, mode: 'fast' }
  const nested = { job_spec: { agent_configs: [{ kwargs: { deep: [config] } }] }, environment_variables: config }
  expect(JSON.stringify(maskRecord(nested))).not.toContain(secret)
  expect(JSON.stringify(maskRecord(nested))).toContain('"mode":"fast"')
  const lines = value.includes('\n')
    ? [`  ${name}: |`, ...value.split('\n').map((line) => `    ${line}`)]
    : [`  ${name}: ${value}`]
  const yaml = ['env:', ...lines, '  mode: fast', '# done'].join('\n')
  expect(maskYaml(yaml)).not.toContain(secret)
  expect(maskYaml(yaml)).toContain('  mode: fast\n# done')
  expect(maskYaml(yaml).split('\n')).toHaveLength(yaml.split('\n').length)
})

it.each(plain)('%s=%s stays readable', (name, value) => {
  const record = { kwargs: { [name]: value }, environment_variables: { [name]: value } }
  expect(maskRecord(record)).toEqual(record)
  expect(maskYaml(`env:\n  ${name}: ${value}`)).toBe(`env:\n  ${name}: ${value}`)
})

describe('a record', () => {
  it('keeps the names of stored secrets, numbers and booleans', () => {
    const record = {
      agent_environment: { secrets: { API_KEY: 'my-stored-key' }, environment_variables: { MODE: 'x' } },
      kwargs: { max_tokens: 4096, cache_key: true, auth: null },
    }
    expect(maskRecord(record)).toEqual(record)
  })

  it('hides numbers, lists and maps below a secret name, and values after a secret argument or name', () => {
    const kwargs = {
      pin: 1234,
      tokens: ['SENTINEL_1'],
      credentials: { user: 'SENTINEL_2' },
      args: ['--api-key', 'SENTINEL_3'],
      env: [{ name: 'API_KEY', value: 'SENTINEL_4' }],
      pairs: [
        ['API_KEY', 'SENTINEL_5'],
        ['MODE', 'fast'],
      ],
    }
    const shown = JSON.stringify(maskRecord({ kwargs }))
    expect(shown).not.toMatch(/SENTINEL|1234/)
    expect(shown).toContain('"name":"API_KEY"')
  })
})

describe('a job file', () => {
  it.each([
    ['a list', 'tokens:\n- SENTINEL\n- "SENTINEL"\nmode: fast'],
    ['a map', 'credentials:\n  user: SENTINEL\n  more:\n    deep: SENTINEL\nmode: fast'],
    ['a value on the next line', 'api_key:\n  SENTINEL\nmode: fast'],
    ['text over lines', 'password: |\n  SENTINEL: x\n\n  SENTINEL\nmode: fast'],
    ['a quoted value over lines', 'password: "SENTINEL\n  SENTINEL"\nmode: fast'],
    ['a flow map', 'env: {API_KEY: SENTINEL, X: 1}\nmode: fast'],
    ['arguments', 'args:\n  - --api-key\n  - SENTINEL\nmode: fast'],
    ['arguments in a row', 'args: ["--api-key", "SENTINEL"]\nmode: fast'],
    ['names and values', 'env:\n  - name: API_KEY\n    value: SENTINEL\nmode: fast'],
    ['values and names', 'env:\n  - value: SENTINEL\n    name: API_KEY\nmode: fast'],
    [
      'names and values in a row',
      'env: [{name: API_KEY, value: SENTINEL}, {"value": "SENTINEL", "name": "API_KEY"}]\nmode: fast',
    ],
    ['a map in a text', 'config: "{\\"token\\": \\"SENTINEL\\"}"\nmode: fast'],
    ['a quoted key of several words', '"api key": SENTINEL\nmode: fast'],
    ['a comment', '# API_KEY: SENTINEL\nmode: fast'],
    ['a value with a comment', 'api_key: SENTINEL # mine\nmode: fast'],
    ['an anchor', 'api_key: &key SENTINEL\nmode: fast'],
  ])('has %s hidden', (_, yaml) => {
    const shown = maskYaml(yaml)
    expect(shown).not.toContain('SENTINEL')
    expect(shown).toContain('mode: fast')
    expect(shown.split('\n')).toHaveLength(yaml.split('\n').length)
  })

  it('keeps its layout', () => {
    const yaml = 'agents:\n  - name: command\n    env:\n      API_KEY: "x" \n      MODE: fast\n# done'
    expect(maskYaml(yaml)).toBe(yaml.replace('"x"', `"${mask}"`))
  })
})

it('leaves an existing mask unchanged', () => {
  const once = maskText('API_KEY=abc and sk-123456')
  expect(maskText(once)).toBe(once)
})
