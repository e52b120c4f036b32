// Style of claims.html: a paper's table on screen, in the dark and in print. No font or image is fetched.

const LIGHT =
  '--paper:#fffefb;--ink:#1b222b;--muted:#5f6873;--line:#d9d5ca;--grid:#eeebe3;--strong:#1b222b;--account:#b4532a;--ours:#2c6e9e;--reference:#6b7480;--good:#1f7a4d;--bad:#b3261e;--open:#8a5a00;';
const DARK =
  '--paper:#14181d;--ink:#e4e7eb;--muted:#98a3af;--line:#333c46;--grid:#262d35;--strong:#cfd5dc;--account:#e59467;--ours:#6fb1de;--reference:#93a0ad;--good:#6fce9d;--bad:#ff8a80;--open:#e8b75a;';

export const CLAIMS_STYLE = `
:root{color-scheme:light dark;${LIGHT}
--serif:"Iowan Old Style","Palatino Linotype",Palatino,"Source Serif 4","Noto Serif","DejaVu Serif",Georgia,serif;
--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media screen and (prefers-color-scheme:dark){:root{${DARK}}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:15.5px/1.55 var(--serif);font-variant-numeric:tabular-nums}
main{max-width:1180px;margin:0 auto;padding:44px 32px 72px}
h1{font-size:29px;line-height:1.2;font-weight:600;letter-spacing:-.01em;margin:0 0 8px}
h2{font-size:20px;font-weight:600;margin:52px 0 6px}
h3{font-size:17px;font-weight:600;margin:0}
p{margin:0 0 10px;max-width:78ch}
.lead{font-size:18px;margin-bottom:6px}
.quiet{color:var(--muted)}
.small,footer{max-width:none;font:13px/1.5 var(--sans);color:var(--muted)}
.warn{border-left:3px solid var(--open);padding:4px 0 4px 14px;margin:14px 0;max-width:none}
.scroll{overflow-x:auto;margin:26px 0 0}
table{border-collapse:collapse;width:100%;font:13px/1.42 var(--sans)}
.caption{font-size:14px;margin:26px 0 10px;max-width:none}
.scroll.first{margin-top:0}
th,td{padding:8px 14px 8px 0;text-align:left;vertical-align:top}
th:last-child,td:last-child{padding-right:0}
thead th{font-weight:600;border-top:2px solid var(--strong);border-bottom:1px solid var(--strong);vertical-align:bottom}
tbody tr+tr>*{border-top:1px solid var(--grid)}
tbody:last-child tr:last-child>*{border-bottom:2px solid var(--strong)}
tbody th{font-weight:400;min-width:17em;max-width:25em}
tbody th a{font-weight:640;color:inherit;text-decoration-color:var(--line);text-underline-offset:3px}
tbody th span{display:block;color:var(--muted);overflow-wrap:anywhere}
.number{text-align:right;white-space:nowrap}
.sides p{margin:0 0 2px;color:var(--muted)}
.sides div{display:grid;grid-template-columns:max-content max-content;gap:0 14px}
.sides span{white-space:nowrap}
.sides b{font-weight:500;white-space:nowrap}
.sides b .ci{font-weight:400}
.ci{color:var(--muted);white-space:nowrap}
.verdict{white-space:nowrap;font-weight:640}
.held{color:var(--good)}
.did-not-hold{color:var(--bad)}
.not-testable-here{color:var(--open)}
.failed{color:var(--bad)}
td.why{min-width:9em}
td.why small{display:block;font-weight:400;white-space:normal;color:var(--muted);max-width:20em}
article{border-top:1px solid var(--line);padding:26px 0 8px;margin-top:22px;scroll-margin-top:8px}
article>p{max-width:100ch}
article header{display:flex;flex-wrap:wrap;gap:2px 16px;align-items:baseline;margin-bottom:8px}
article .columns{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:6px 40px}
article ul{margin:0 0 12px;padding-left:1.1em}
article li{margin:2px 0;overflow-wrap:anywhere}
article .scroll{margin:6px 0 14px}
article table{width:auto}
article tbody th{min-width:0}
.rule{font:13.5px/1.5 var(--sans)}
.rules{list-style:none;padding:0;font:13px/1.5 var(--sans)}
.rules li{padding-left:1.5em;position:relative}
.rules li::before{position:absolute;left:0;font-weight:700}
.rules .yes::before{content:"✓";color:var(--good)}
.rules .no::before{content:"✗";color:var(--bad)}
.rules .open::before{content:"?";color:var(--open)}
dl{display:grid;grid-template-columns:auto minmax(0,1fr);gap:3px 14px;margin:0 0 12px;font:13px/1.5 var(--sans)}
dt{color:var(--muted)}
dt code{color:var(--ink)}
dd{margin:0;overflow-wrap:anywhere}
code{font:12.5px/1.5 var(--mono)}
figure{margin:4px 0 14px;max-width:640px}
figcaption{font:13px/1.5 var(--sans);color:var(--muted);margin-bottom:2px}
figure svg{display:block;width:100%;height:auto;font:11.5px/1 var(--sans);fill:var(--muted)}
figure .grid{stroke:var(--grid);stroke-width:1}
figure .bound{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:4 3}
figure .side{fill:var(--ink)}
figure .spread{stroke-width:3;stroke-linecap:round;opacity:.55}
figure line.account{stroke:var(--account)}figure circle.account{fill:var(--account)}
figure line.envladder{stroke:var(--ours)}figure circle.envladder{fill:var(--ours)}
figure line.reference{stroke:var(--reference)}figure circle.reference{fill:var(--reference)}
.key{display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:6px}
.key.account{background:var(--account)}.key.envladder{background:var(--ours)}.key.reference{background:var(--reference)}
footer{margin-top:48px;padding-top:12px;border-top:1px solid var(--line);overflow-wrap:anywhere}
@media screen and (max-width:820px){main{padding:24px 16px 48px}article .columns{grid-template-columns:minmax(0,1fr)}h1{font-size:24px}}
@media print{
@page{size:A4 landscape;margin:13mm}
:root{--paper:#fff}
body{font-size:11px;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}
h1{font-size:20px}h2{font-size:15px;break-before:page;margin-top:0}h3{font-size:13px}
.lead{font-size:13px}
table,dl,.rule,.rules,.small,figcaption,code{font-size:9.2px}
.caption{font-size:11px}
th,td{padding:4px 8px 4px 0}
tbody th{min-width:0}
.scroll{overflow:visible}
tr,figure,article header{break-inside:avoid}
article{padding:12px 0 4px;margin-top:10px}
}
`.replace(/\n/g, '');
