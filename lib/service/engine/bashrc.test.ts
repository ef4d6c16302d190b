import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { openTerminal } from '#lib/service/testing/terminals.ts'

const [esc, bell, interrupt] = ['\x1b', '\x07', '\x03']
const mark = new RegExp(`${esc}\\](?:133|7);([^${bell}]*)${bell}`, 'g')
const withoutCursorMoves = (text: string) =>
  text.replaceAll(`${esc}7${esc}[2C${esc}]133;B${bell}${esc}8`, '').replaceAll(`133;C${bell}\r`, `133;C${bell}`)

describe('shell integration marks', () => {
  let service: TestService
  let marking: string
  let plain: string
  beforeAll(async () => {
    service = await startService({ isolation: strongestIsolation })
    const create = (environment_variables: Record<string, string>) =>
      service.client.devboxes.createAndAwaitRunning({ body: { name: 'sandbox', environment_variables } })
    marking = (await create({})).id
    plain = (await create({ DEVDECK_SHELL_INTEGRATION: '0' })).id
  })
  afterAll(() => service.close())

  let count = 0
  /** Types each line at a `P> ` prompt and returns the terminal output. */
  const shown = async (id: string, bashrc: string, lines: readonly string[]) => {
    const run = (command: string) => service.client.executions.executeSync({ params: { id }, body: { command } })
    await run(`rm -f ~/.bash_history; cat > ~/.bashrc <<'END'\necho $$ > ~/shell\n${bashrc}\nEND`)
    const query = { cols: 40, rows: 30 }
    const { type, shows, showsTimes, text, socket, name } = await openTerminal(service, `${id}-${++count}`, query)
    const prompts = (times: number) => showsTimes(new RegExp(`(?:P|${esc}8)> (?!")`), times)
    for (const [at, line] of lines.entries()) {
      await prompts(at + 1)
      if (line.endsWith(interrupt)) {
        const typed = line.slice(0, -1)
        type(typed)
        await shows(new RegExp(`${typed}$`))
        // bash ignores an interrupt until it reads input again.
        await run(`until [ "$(cut -d' ' -f3 /proc/$(cat ~/shell)/stat)" = S ]; do :; done`)
        type(interrupt)
      } else type(`${line}\r`)
    }
    await prompts(lines.length + 1)
    await service.client.terminals.control({ params: { session_name: name }, body: { action: 'close' } })
    socket.terminate()
    return text()
  }
  const marksOf = (text: string) =>
    [...text.matchAll(mark)].map(([, name]) => name).filter((name) => !name?.startsWith('file:'))
  const prompt = ['A', 'B']
  /** Expected marks; an undefined status means that no command ran. */
  const commands = (...statuses: (number | undefined)[]) => [
    ...prompt,
    ...statuses.flatMap((status) => (status === undefined ? ['D', ...prompt] : ['C', `D;${status}`, ...prompt])),
  ]

  it('report prompts, commands, output and exit status', async () => {
    const lines = ['true', 'false', '(exit 7)', '', `abc${interrupt}`, 'echo "$?"', ')', 'true | false; ! true']
    const text = await shown(marking, 'PS1="P> "', lines)
    expect(marksOf(text)).toEqual(commands(0, 1, 7, undefined, undefined, 0, undefined, 1))
    expect(text).toContain(`${esc}]133;C${bell}\r130\r\n${esc}]133;D;0${bell}`)
  })

  it('appear once for a multi-line command or a nested shell', async () => {
    const lines = ['for i in 1 2; do\recho $i\rdone', 'cat <<E\rhere\rE', 'echo "a\rb"; false']
    const nested = ['bash --norc', 'PS1="inner P> "; false', 'exit 4', 'sh', 'false', 'exit 5']
    const bashrc = 'export PS1="P> " PS0="run " PROMPT_COMMAND="true"'
    const text = await shown(marking, bashrc, [...lines, ...nested])
    expect(marksOf(text)).toEqual(commands(0, 0, 1, 4, 5))
  })

  // The output must match an unmarked shell byte for byte.
  const habits: Record<string, [bashrc: string, lines: string[], marks: string[]]> = {
    'a changing prompt': [
      'pc() { PS1="$? P> "; }; PROMPT_COMMAND=pc',
      ['true', 'false', '(exit 9)', 'PS1=; true'],
      commands(0, 1, 9, 0),
    ],
    'custom PROMPT_COMMAND, PS0 and PS1, changed later': [
      'PS1="P> " PROMPT_COMMAND="echo one:\\$?"; PS0="<run>"',
      [
        'false last',
        'PROMPT_COMMAND="echo again:\\$?:\\$_"',
        'false last',
        'PROMPT_COMMAND="echo two:\\$?"',
        'false',
        'PS1="new P> " PS0="<again>"',
        'false',
        'PROMPT_COMMAND+=("echo three:\\$?")',
        '(exit 3)',
        'PROMPT_COMMAND="$PROMPT_COMMAND; true"',
        '(exit 4)',
      ],
      commands(1, 0, 1, 0, 1, 0, 1, 0, 3, 0, 4),
    ],
    'strict shell options': [
      'PS1="P> "; set -uaC; set -o pipefail; shopt -s nullglob failglob extglob nocasematch; IFS=/; set -f',
      ['echo $nope', 'false', 'true | false', 'cd /usr; echo $IFS', 'echo $-'],
      commands(1, 1, 1, 0, 0),
    ],
    'conflicting aliases and functions': [
      'PS1="P> "; alias printf=false local=false set=false case=false; printf() { echo no; }; declare() { echo no; }',
      ['true', 'false', 'printf'],
      commands(0, 1, 1),
    ],
    'promptvars turned off': ['PS1="P> "; shopt -u promptvars', ['true'], ['A', 'D', 'A']],
    'a read-only PROMPT_COMMAND': ['PS1="P> "; readonly PROMPT_COMMAND=true', ['false', 'true'], []],
    'a .bashrc that returns early': ['PS1="P> "; return 3; PS1=""', ['true'], commands(0)],
  }
  for (const [habit, [bashrc, lines, marks]] of Object.entries(habits))
    it(`keep the output unchanged with ${habit}`, async () => {
      const marked = await shown(marking, bashrc, lines)
      expect(marksOf(marked)).toEqual(marks)
      expect(withoutCursorMoves(marked).replace(mark, '')).toBe(await shown(plain, bashrc, lines))
    })

  it('work with a DEBUG trap', async () => {
    const lines = ['true', 'false', '', 'set -x', 'false']
    const text = await shown(marking, `PS1="P> "; trap 'echo "<$BASH_COMMAND>"' DEBUG`, lines)
    expect(marksOf(text)).toEqual(commands(0, 1, undefined, 0, 1))
    expect(text).toContain(`133;C${bell}\r<false>\r\n`)
  })

  it('report the directory, whatever its name', async () => {
    const name = 'ä b%;~*"\\n'
    const text = await shown(marking, 'PS1="P> "', [`mkdir -p ~/$'${name}'; cd ~/$'${name}'`, 'cd /', 'cd /usr/bin'])
    const home = '.*/home(?:/user)?'
    const host = '[^/]+'
    expect([...text.matchAll(mark)].map(([, uri]) => uri).filter((uri) => uri?.startsWith('file:'))).toEqual([
      expect.stringMatching(`^file://${host}${home}$`),
      expect.stringMatching(`^file://${host}${home}/%C3%A4%20b%25%3B~%2A%22%0A$`),
      expect.stringMatching(`^file://${host}/$`),
      expect.stringMatching(`^file://${host}/usr/bin$`),
    ])
  })

  it('leave no trace in the environment or history', async () => {
    const lines = ['env | grep -c "^_*devdeck"', 'history | grep -c "[_]_devdeck"']
    const text = await shown(marking, 'PS1="P> "; set -a', lines)
    expect(text.match(/\n[^\n]*\b0\r\n/g)).toHaveLength(2)
  })
})
