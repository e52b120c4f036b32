// The page's style sheet: one place for colours (light, dark, print), type and layout. No font or image is fetched.

const LIGHT = `
--paper:#f6f5f1;--card:#fffefb;--ink:#1c2530;--muted:#5d6875;--line:#e2dfd6;--grid:#ebe8df;--axis:#b9b6ab;
--c1:#2c6e9e;--c2:#2b9385;--c3:#cf8424;--c4:#8a5aa8;--c5:#b8506e;--c6:#6f7f3a;--c7:#5b6b7c;--idle:#cfcbbf;
--ramp-low:#a9cbe2;--ramp-high:#123f63;--on-colour:#fff;
--good:#1f7a4d;--good-soft:#e6f2ea;--bad:#b3261e;--bad-soft:#fbe9e7;--warn:#8a5a00;--warn-soft:#fbf3e0;`;

const DARK = `
--paper:#12161b;--card:#191f26;--ink:#e6e9ed;--muted:#9aa6b2;--line:#2b333d;--grid:#262e37;--axis:#4b5663;
--c1:#6fb1de;--c2:#57c2b2;--c3:#e5a856;--c4:#b78fd6;--c5:#e0839d;--c6:#a8b96a;--c7:#93a3b4;--idle:#46505c;
--ramp-low:#35597a;--ramp-high:#c4e2f7;--on-colour:#10151a;
--good:#6fce9d;--good-soft:#16281f;--bad:#ff8a80;--bad-soft:#331a19;--warn:#e8b75a;--warn-soft:#2e2716;`;

export const STYLE = `
:root{color-scheme:light dark;${LIGHT}
--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media screen and (prefers-color-scheme:dark){:root{${DARK}}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 var(--sans);font-variant-numeric:tabular-nums}
main{max-width:1240px;margin:0 auto;padding:36px 28px 64px}
header{display:flex;flex-wrap:wrap;gap:4px 20px;align-items:baseline;margin-bottom:20px}
h1{font-size:15px;font-weight:650;margin:0;letter-spacing:.01em}
header p{margin:0;color:var(--muted);font-size:13px;overflow-wrap:anywhere}
h2{font-size:20px;line-height:1.25;font-weight:650;letter-spacing:-.012em;margin:52px 0 14px}
h3{font-size:14.5px;font-weight:650;margin:0}
p{margin:0 0 10px}
.verdict{border-radius:14px;padding:22px 26px;background:var(--good-soft);border:1px solid color-mix(in srgb,var(--good) 30%,transparent)}
.verdict.invalid{background:var(--bad-soft);border-color:color-mix(in srgb,var(--bad) 45%,transparent);border-left-width:8px;border-left-color:var(--bad)}
.verdict.warned{margin-top:12px;padding:16px 26px;background:var(--warn-soft);border-color:color-mix(in srgb,var(--warn) 35%,transparent)}
.verdict.warned .word b{color:var(--warn)}
.verdict.warned .reasons{margin-top:10px}
.verdict.warned .reasons li{border-top-color:color-mix(in srgb,var(--warn) 25%,transparent)}
.verdict.warned .reasons code{color:var(--warn)}
.verdict .word{display:flex;flex-wrap:wrap;gap:2px 14px;align-items:baseline;margin:0 0 6px;font-size:13px;color:var(--muted)}
.verdict .word b{font-size:14px;letter-spacing:.09em;color:var(--good)}
.verdict.invalid .word b{color:var(--bad)}
.verdict .word b.slo{color:var(--warn)}
.verdict .word b.slo.met{color:var(--good)}
.verdict .said{font-size:23px;line-height:1.32;letter-spacing:-.015em;font-weight:600;margin:0;text-wrap:balance;max-width:46em}
.reasons{list-style:none;margin:18px 0 0;padding:0;display:grid;gap:14px}
.reasons li{border-top:1px solid color-mix(in srgb,var(--bad) 25%,transparent);padding-top:12px;overflow-wrap:anywhere}
.reasons strong{font-weight:620}
.reasons .advice{display:block;color:var(--muted)}
.reasons code{margin-left:8px;color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(158px,1fr));gap:12px;margin:14px 0 0;padding:0;list-style:none}
.tiles li{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px 16px}
.tiles .figure{display:block;font-size:24px;line-height:1.2;font-weight:640;letter-spacing:-.02em;white-space:nowrap}
.tiles .name{display:block;font-size:12.5px;color:var(--muted);line-height:1.4;margin-top:3px}
.grid{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:16px}
.grid.small{grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr))}
.gap{height:16px}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:14px;padding:16px 18px 12px;min-width:0}
figcaption{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline;justify-content:space-between;margin-bottom:8px}
figcaption h3{overflow-wrap:anywhere}
figure>svg{display:block;width:100%;height:auto;font:12px/1 var(--sans);font-variant-numeric:tabular-nums;color:var(--muted);overflow:visible}
figure>svg text{white-space:pre}
.legend{display:flex;flex-wrap:wrap;gap:2px 14px;list-style:none;margin:0;padding:0;font-size:12.5px;color:var(--muted)}
.legend li{display:flex;align-items:center;gap:6px;white-space:nowrap}
.key{flex:none}
.note{font-size:12px;line-height:1.45;color:var(--muted);margin:8px 0 0}
.scroll{overflow-x:auto;background:linear-gradient(90deg,var(--card) 30%,transparent) 0 0/28px 100% no-repeat local,linear-gradient(270deg,var(--card) 30%,transparent) 100% 0/28px 100% no-repeat local,linear-gradient(90deg,var(--line),transparent) 0 0/10px 100% no-repeat scroll,linear-gradient(270deg,var(--line),transparent) 100% 0/10px 100% no-repeat scroll,var(--card);border:1px solid var(--line);border-radius:14px}
table{border-collapse:collapse;width:100%;font-size:13px;line-height:1.4}
th,td{padding:9px 8px;text-align:right;white-space:nowrap;vertical-align:top}
th:first-child,td:first-child{padding-left:16px}
th:last-child,td:last-child{padding-right:16px}
thead th{font-weight:600;font-size:12.5px;color:var(--ink);border-bottom:1px solid var(--line);vertical-align:bottom}
th small{font-weight:400}
thead th small{display:block;font-weight:400;font-size:11.5px;color:var(--muted)}
tbody tr+tr>*{border-top:1px solid var(--grid)}
tbody th{font-weight:620}
.text{text-align:left}
.wide{white-space:normal;min-width:16em;overflow-wrap:anywhere}
.quiet{color:var(--muted)}
td.sum{font-weight:640}
.pill{display:inline-block;border-radius:99px;padding:1px 9px;font-size:12px;font-weight:620;background:var(--good-soft);color:var(--good)}
.pill.invalid{background:var(--bad-soft);color:var(--bad)}
.pill.missed{background:var(--warn-soft);color:var(--warn)}
code,pre{font:12.5px/1.5 var(--mono)}
pre{margin:0;padding:14px 18px;overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:14px;white-space:pre-wrap;overflow-wrap:anywhere}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));gap:0 32px;margin:0}
.facts div{display:grid;grid-template-columns:104px minmax(0,1fr);gap:12px;padding:8px 0;border-bottom:1px solid var(--line);font-size:13.5px}
.facts dt{color:var(--muted)}
.facts dd{margin:0;overflow-wrap:anywhere}
details{margin-top:12px}
summary{cursor:pointer;color:var(--muted);font-size:13px;margin-bottom:8px}
.empty{color:var(--muted)}
footer{margin-top:56px;padding-top:14px;border-top:1px solid var(--line);font-size:12.5px;color:var(--muted);overflow-wrap:anywhere}
@media screen and (max-width:760px){
main{padding:20px 16px 48px}
h2{margin-top:40px}
.grid{grid-template-columns:minmax(0,1fr)}
.verdict{padding:18px 18px}
.verdict .said{font-size:19px}
.tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}
.tiles .figure{font-size:20px}
figure{padding:14px 12px 10px}
figure>svg{font-size:13.5px}
}
@media print{
@page{margin:14mm}
:root{--paper:#fff;--card:#fff}
body{font-size:11.5px;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}
h2{margin-top:26px;break-after:avoid}
figure,.verdict,.tiles li,tr{break-inside:avoid}
.scroll{overflow:visible}
table,thead th{font-size:8px}
thead th{white-space:normal}
thead th small,.pill,.note{font-size:8px}
th,td{padding:4px 2px}
th:first-child,td:first-child{padding-left:6px}
th:last-child,td:last-child{padding-right:6px}
.wide{min-width:0}
.tiles{grid-template-columns:repeat(6,1fr);gap:6px}
.tiles li{padding:8px 10px}
.tiles .figure{font-size:15px}
.tiles .name{font-size:8.5px}
.verdict .said{font-size:16px}
h2{font-size:15px}
.grid{gap:8px}
.grid.small{grid-template-columns:repeat(3,minmax(0,1fr))}
figure{padding:10px}
figcaption h3,.legend{font-size:9.5px}
details>summary{display:none}
}
`.replace(/\n/g, '');
