import { createHash } from 'node:crypto'

/** Paper is always light. */
export const style = `
:root{color-scheme:light;--bg:oklch(1 0 0);--card:oklch(.983 .002 265);--soft:oklch(.958 .004 265);--text:oklch(.23 .014 265);--muted:oklch(.485 .016 265);--line:oklch(.912 .005 265);--strong:oklch(.63 .012 265);--accent:oklch(.49 .19 278);--bar:oklch(.76 .105 245);--low:oklch(.965 .045 98);--high:oklch(.76 .105 245);--ok:oklch(.47 .11 155);--ok-bg:oklch(.965 .028 157);--ok-line:oklch(.86 .06 157);--attention:oklch(.5 .11 66);--attention-bg:oklch(.972 .026 85);--attention-line:oklch(.86 .09 82);--danger:oklch(.52 .19 26);--danger-bg:oklch(.97 .013 22);--danger-line:oklch(.87 .065 22);--neutral:oklch(.46 .015 265);--neutral-bg:oklch(.962 .004 265);--neutral-line:oklch(.885 .007 265)}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--bg:oklch(.175 .006 265);--card:oklch(.205 .007 265);--soft:oklch(.245 .009 265);--text:oklch(.94 .004 265);--muted:oklch(.71 .012 265);--line:oklch(.285 .009 265);--strong:oklch(.56 .012 265);--accent:oklch(.78 .1 280);--bar:oklch(.47 .105 245);--low:oklch(.25 .03 98);--high:oklch(.47 .105 245);--ok:oklch(.8 .13 157);--ok-bg:oklch(.255 .035 160);--ok-line:oklch(.37 .06 160);--attention:oklch(.83 .13 80);--attention-bg:oklch(.265 .04 75);--attention-line:oklch(.4 .07 75);--danger:oklch(.76 .135 22);--danger-bg:oklch(.26 .05 22);--danger-line:oklch(.4 .09 22);--neutral:oklch(.76 .012 265);--neutral-bg:oklch(.25 .009 265);--neutral-line:oklch(.35 .012 265)}}
*{box-sizing:border-box}
html{background:var(--bg);-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;color:var(--text);font:13px/1.5 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;-webkit-font-smoothing:antialiased}
main{max-width:76rem;margin:0 auto;padding:28px 28px 48px}
header{display:grid;grid-template-columns:1fr auto;gap:4px 16px;margin-bottom:20px}
.brand{display:flex;align-items:center;gap:8px;color:var(--muted);font-size:12px}
.brand svg{width:18px;height:18px}
.stamp{color:var(--muted);font-size:12px;text-align:right}
h1{grid-column:1/-1;margin:6px 0 0;font-size:22px;line-height:1.25;font-weight:600;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{margin:32px 0 4px;font-size:15px;font-weight:600}
h3{margin:20px 0 4px;font-size:13px;font-weight:600;overflow-wrap:anywhere}
h2+p,h3+p{margin-top:0}
p{margin:4px 0 10px;max-width:80ch}
a{color:var(--accent)}
.muted,.sub{color:var(--muted)}
.sub{display:block;font-size:11.5px;line-height:1.35}
code{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.facts{grid-column:1/-1;display:flex;flex-wrap:wrap;gap:4px 16px;margin:4px 0 0;padding:0;list-style:none;color:var(--muted)}
.facts b{color:var(--text);font-weight:500}
.verdict{border:1px solid var(--neutral-line);border-left-width:4px;background:var(--neutral-bg);border-radius:6px;padding:12px 16px;break-inside:avoid}
.verdict p{max-width:none;margin:0;overflow-wrap:anywhere}
.verdict .lead{font-size:17px;line-height:1.4;font-weight:500}
.verdict .lead+p{margin-top:4px;color:var(--muted)}
.gate{margin-top:12px}
.ok{--tone:var(--ok);border-color:var(--ok-line);border-left-color:var(--ok);background:var(--ok-bg)}
.attention{--tone:var(--attention);border-color:var(--attention-line);border-left-color:var(--attention);background:var(--attention-bg)}
.danger{--tone:var(--danger);border-color:var(--danger-line);border-left-color:var(--danger);background:var(--danger-bg)}
.neutral{--tone:var(--neutral);border-left-color:var(--strong)}
.badge{display:inline-block;padding:0 6px;border:1px solid var(--neutral-line);border-radius:4px;background:var(--neutral-bg);color:var(--tone,var(--neutral));font-size:11.5px;font-weight:500;line-height:18px;white-space:nowrap}
.badge.ok{background:var(--ok-bg)}
.scroll{overflow-x:auto}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--muted);padding:0 0 4px}
th,td{padding:6px 10px;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
thead th{color:var(--muted);font-size:11.5px;font-weight:500;vertical-align:bottom;border-bottom-color:var(--strong);white-space:nowrap}
th:first-child,td:first-child{padding-left:0}
th:last-child,td:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap}
.name{min-width:9rem;font-weight:500;overflow-wrap:anywhere;unicode-bidi:isolate}
td b{font-weight:600}
.nowrap{white-space:nowrap}
.ci{width:11rem;white-space:nowrap}
.ci svg{display:block;width:100%;min-width:7rem;height:14px;margin:2px 0 1px;overflow:visible}
.grid th,.grid td{padding:3px 8px;border-bottom-color:var(--bg)}
.grid thead th{white-space:normal;overflow-wrap:anywhere;max-width:9rem}
.grid th[scope=row]{min-width:9rem;font-weight:400;overflow-wrap:anywhere;text-align:left;border-bottom-color:var(--line)}
.grid td{text-align:right;white-space:nowrap;min-width:3.5rem}
.grid .sub{white-space:normal}
.grid i{margin-left:4px;color:var(--muted);font-style:normal}
.grid td.none{color:var(--muted)}
${Array.from({ length: 11 }, (_, i) => `.h${i}{background:color-mix(in oklab,var(--high) ${i * 10}%,var(--low))}`).join('')}
[class^=h]{-webkit-print-color-adjust:exact;print-color-adjust:exact}
svg text{fill:var(--muted);font-size:11px}
svg text.strong{fill:var(--text)}
.tick{stroke:var(--line)}.axis{stroke:var(--strong)}.bar{fill:var(--bar)}.whisker{stroke:var(--text);stroke-width:1.5;fill:none}.line{stroke:var(--accent);stroke-width:1.5;fill:none}.dot{fill:var(--accent);stroke:var(--accent);stroke-width:2}.dot.open{fill:var(--bg)}.fall{fill:var(--danger)}.fall.open{fill:var(--bg);stroke:var(--attention);stroke-width:2}
figure{margin:8px 0;break-inside:avoid}
figcaption{color:var(--muted);margin-bottom:4px}
.plot{display:block;max-width:100%;height:auto}
.verdict,.badge,svg{-webkit-print-color-adjust:exact;print-color-adjust:exact}
ul,ol{margin:4px 0 10px;padding-left:18px;max-width:90ch}
li{overflow-wrap:anywhere}
details{margin-top:6px}
summary{cursor:pointer;color:var(--accent);width:fit-content}
footer{margin-top:32px;padding-top:12px;border-top:1px solid var(--line);color:var(--muted);overflow-wrap:anywhere}
@media (max-width:48rem){main{padding:16px 14px 32px}header{grid-template-columns:1fr}.stamp{text-align:left}}
@page{margin:12mm}
@media print{body{font-size:10px;line-height:1.4}main{max-width:none;padding:0}h1{font-size:18px}h2{font-size:13px;margin-top:20px;break-after:avoid}h3{break-after:avoid}.sub,thead th,.badge,.stamp,.brand{font-size:9px}.verdict .lead{font-size:14px}th,td{padding:3px 5px}.grid th,.grid td{padding:2px 4px}.grid td{min-width:0}.grid th[scope=row]{min-width:7.5rem}.name{min-width:6rem}.ci{width:8.5rem}.ci svg{min-width:5rem}.scroll{overflow:visible}thead{display:table-header-group}tr{break-inside:avoid}thead th{white-space:normal}a{color:inherit;text-decoration:none}details:not([open])>summary::after{content:" (folded, not printed)"}}
`

/** Allows this style sheet and nothing else: no scripts, images, fonts or requests. */
export const contentPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`
