import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeLocalSpec, outputOf } from '#lib/service/testing/boxes.ts'
import type { Layer } from '../box.ts'
import type { LocalBox } from '../local/local-box.ts'
import { bubblewrapProblem, startBubblewrap } from './bubblewrap.ts'
import { makeSystemBase, systemProblem } from './system.ts'

const folder = mkdtempSync(join(tmpdir(), 'devdeck-system-test-'))
const own = (devboxId: string) => join(folder, devboxId, 'system')

const start = async (devboxId: string, layers: Layer[] = []): Promise<LocalBox> => {
  const root = join(folder, devboxId, 'root')
  mkdirSync(join(root, 'logs'), { recursive: true })
  const base = await makeSystemBase(join(folder, 'environments'))
  const system = { base, layers, own: own(devboxId) }
  const limits = { cpuCores: 1, memoryBytes: 2 ** 30, diskBytes: 2 ** 30 }
  const spec = makeLocalSpec(folder, { devboxId, serviceId: 'system-test', root, system, limits, network: 'none' })
  return startBubblewrap(spec)
}

const problem = (await bubblewrapProblem()) ?? (await systemProblem())

describe.skipIf(problem !== undefined)('a devbox with its own root file system', () => {
  let one: LocalBox
  let other: LocalBox
  beforeAll(async () => {
    one = await start('one')
    other = await start('other')
  })
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop()])
    rmSync(folder, { recursive: true })
  })

  it("is root and changes only its own copy of the host's files", async () => {
    const script = `id -un; echo $HOME; pwd; sed -i 's/^root:/root:/' /etc/passwd && echo sed
      echo '#!/bin/sh' >/usr/local/bin/devdeck-made && chmod +x /usr/local/bin/devdeck-made && devdeck-made && echo made
      rm /usr/bin/tac && ls /usr/bin/tac; mkdir /app /srv/a /opt/a /var/a && echo folders`
    expect(await outputOf(one, script)).toBe(
      "root\n/root\n/root\nsed\nmade\nls: cannot access '/usr/bin/tac': No such file or directory\nfolders",
    )
    expect(await outputOf(other, 'ls -d /usr/bin/tac; ls /app /opt/a /usr/local/bin/devdeck-made | wc -l')).toMatch(
      /^\/usr\/bin\/tac\n(ls: .*\n){3}0$/,
    )
    expect(existsSync('/usr/bin/tac')).toBe(true)
    expect(existsSync('/usr/local/bin/devdeck-made')).toBe(false)
  })

  it('creates users, gives them files and runs programs as them', async () => {
    const script = `useradd -m joe && id -u joe && su joe -c 'id -un; touch /home/joe/a /etc/a' ; stat -c '%U %a' /home/joe/a
      mkdir /data && chown joe:joe /data && chmod 700 /data && setpriv --reuid joe --regid joe --init-groups sh -c 'cd /data && id -G && cat /proc/self/status | grep CapEff'`
    expect(await outputOf(one, script)).toBe(
      "1000\njoe\ntouch: cannot touch '/etc/a': Permission denied\njoe 644\n1000\nCapEff:\t0000000000000000",
    )
  })

  it('has no root rights on the host', async () => {
    const attempts: [script: string, expected: RegExp][] = [
      ['mount -t tmpfs none /mnt', /permission denied/i],
      ['umount /proc', /(must be superuser|permitted|not mounted|denied)/i],
      ['unshare -U true', /not permitted/],
      ['echo x >/proc/sys/kernel/core_pattern', /denied|Read-only/],
      ['echo 100 >/proc/sys/user/max_user_namespaces', /denied|Read-only/],
      ['chmod 600 /dev/null', /not permitted|Read-only/],
      ['cat /proc/kcore | head -c 1', /denied|No such|permitted/],
      ['mknod /tmp/disk b 8 0', /not permitted/],
      ['date -s 2000-01-01', /not permitted/],
      ['hostname other-name', /must be root|permitted|found/],
      [`ls ${folder} ${process.cwd()}`, /(No such file or directory[\s\S]*){2}/],
      ['cat /etc/shadow | grep -v "^[^:]*:[*]:"', /^$/],
      ['ls /home /root /mnt /media /srv', /^(?![\s\S]*devdeck)/],
    ]
    for (const [script, expected] of attempts)
      expect([script, await outputOf(other, script)]).toEqual([script, expect.stringMatching(expected)])
    const bounding = await outputOf(other, 'grep CapBnd /proc/self/status')
    expect(bounding).toBe('CapBnd:\t00000000000405fb')
  })

  it.runIf(existsSync('/usr/bin/dpkg-deb'))('installs a package, even over a host file', async () => {
    const script = `mkdir -p /tmp/p/DEBIAN /tmp/p/usr/bin && cd /tmp/p && echo new >usr/bin/comm && echo new >usr/bin/devdeck-new
      printf 'Package: devdeck-new\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: a\n' >DEBIAN/control
      dpkg-deb -b . /tmp/p.deb >/dev/null && dpkg -i --force-overwrite /tmp/p.deb >/tmp/log 2>&1 || cat /tmp/log
      cat /usr/bin/comm /usr/bin/devdeck-new; dpkg -s devdeck-new | grep ^Status`
    const built = await start('package')
    try {
      expect(await outputOf(built, script)).toBe('new\nnew\nStatus: install ok installed')
    } finally {
      await built.stop()
    }
  })

  it("starts from another devbox's changes, with owners and modes, without modifying them", async () => {
    const script = `useradd -m ann; mkdir -p /opt/tool; echo 1 >/opt/tool/a; chown ann /opt/tool/a; chmod 640 /opt/tool/a
      rm /usr/bin/tac; echo kept >/tmp/kept; echo /root/x >/root/x`
    const built = await start('built')
    await outputOf(built, script)
    const firstUid = built.uid ?? 0
    await built.stop()
    const next = await start('next', [{ folder: own('built'), firstUid }])
    try {
      expect(next.uid).not.toBe(firstUid)
      const check =
        "stat -c '%U %a' /opt/tool/a; cat /opt/tool/a /tmp/kept /root/x; ls /usr/bin/tac 2>&1 | wc -l; id -u ann; stat -c %U /home/ann"
      expect(await outputOf(next, check)).toBe('ann 640\n1\nkept\n/root/x\n1\n1000\nann')
      await outputOf(next, 'echo 2 >/opt/tool/a; rm /tmp/kept; rm -rf /home/ann')
      expect(await outputOf(next, 'cat /opt/tool/a; ls /tmp /home')).toMatch(/^2\n/)
    } finally {
      await next.stop()
    }
    expect(readdirSync(join(own('built'), 'upper', 'root', 'home'))).toContain('ann')
    expect(statSync(join(own('built'), 'upper', 'opt', 'tool', 'a')).uid).toBe(firstUid + 1000)
  })
})
