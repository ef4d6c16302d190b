import { fontFamilyCss, type TerminalSettings } from '#lib/terminal/page/settings.ts'

export const SettingsPreview = ({ settings }: { settings: TerminalSettings }) => {
  const { theme, fontFamily, fontSize, lineHeight, ligatures, cursorStyle } = settings
  return (
    <div
      aria-hidden
      data-theme={theme === 'app' ? undefined : theme}
      className="max-h-40 overflow-hidden rounded-md border border-line bg-surface-0 px-3 py-2 font-mono whitespace-pre text-text"
      style={{
        fontFamily: fontFamilyCss(fontFamily, 'var(--font-geist-mono), ui-monospace, monospace'),
        fontSize,
        lineHeight: lineHeight * 1.3,
        fontVariantLigatures: ligatures ? 'normal' : 'none',
      }}
    >
      <div>
        <b className="text-(--terminal-green)">user@devbox</b>:<b className="text-(--terminal-blue)">~/app</b>$ git diff
        --stat
      </div>
      <div>
        {' src/main.ts | 12 '}
        <span className="text-(--terminal-green)">++++++++</span>
        <span className="text-(--terminal-red)">----</span>
      </div>
      <div>
        <span className="text-(--terminal-magenta)">const</span> ok = (a) =&gt; a !== 0 &amp;&amp; b &lt;= c{' '}
        <span className="text-(--terminal-bright-black)">{'// 0O 1lI'}</span>
      </div>
      <div>
        <b className="text-(--terminal-green)">user@devbox</b>:<b className="text-(--terminal-blue)">~/app</b>${' '}
        <span className={`inline-block w-[1ch] ${cursorLooks[cursorStyle]}`}> </span>
      </div>
    </div>
  )
}

const cursorLooks: Record<TerminalSettings['cursorStyle'], string> = {
  block: 'bg-text',
  bar: 'border-l border-text',
  underline: 'border-b border-text',
}
