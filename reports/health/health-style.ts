// Style of the health section, added to the page only when there is one. Colours are the page's variables, so it follows light and dark.

export const HEALTH_STYLE = `
h3.sub{margin:26px 0 10px}
.env-map .map-scroll{overflow-x:auto}
.env-map .map-scroll>svg{display:block;width:100%;min-width:640px;height:auto;font:10px/1 var(--sans);fill:var(--muted)}
.env-map a{outline-offset:1px}
.env-map a:hover rect,.env-map a:focus-visible rect{stroke:var(--ink);stroke-width:1.5}
.env-map .legend{gap:4px 16px}
.env-map .legend b{color:var(--ink);font-weight:640}
.env-map .legend .quiet,.env-map .legend .quiet b{color:var(--muted);font-weight:400;opacity:.75}
.env-map .key{border:1px solid var(--line);border-radius:2px}
.m-live{fill:color-mix(in oklab,var(--c2) 62%,var(--card))}
.m-restarted{fill:var(--c1)}
.m-slow{fill:var(--c3)}
.m-stale{fill:var(--c4)}
.m-bad{fill:var(--bad)}
.m-cross{stroke:var(--card);stroke-width:1.6;fill:none}
.m-hollow{fill:none;stroke:var(--ink);stroke-width:1.6}
.m-axis{fill:var(--axis)}
.m-paper{fill:var(--card)}
.m-dot{fill:var(--ink);pointer-events:none}
.m-line{stroke:var(--card);stroke-width:1.4;fill:none}
.facts.health{margin-top:14px;grid-template-columns:repeat(auto-fill,minmax(min(100%,500px),1fr))}
.facts.health div{grid-template-columns:146px minmax(0,1fr)}
td details{margin:0}
td details summary{margin:0;color:var(--ink);font-family:var(--mono);font-size:12px;overflow-wrap:anywhere}
td details p{margin:8px 0;color:var(--muted)}
td details pre{padding:10px 12px;max-height:320px;overflow:auto}
main a{color:var(--c1)}
.entries{max-height:520px;overflow:auto;border:1px solid var(--line);border-radius:14px;background:var(--card);display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,380px),1fr));gap:0 24px;padding:4px 18px}
.entries article{padding:10px 8px;border-bottom:1px solid var(--grid);font-size:12.5px;min-width:0;scroll-margin:12px}
.entries article:target{background:var(--warn-soft);outline:2px solid var(--warn);outline-offset:-2px;border-radius:8px}
.entries h4{margin:0;font-size:13.5px;font-weight:640}
.entries p{margin:2px 0 6px;color:var(--muted)}
.entries ol{list-style:none;margin:0;padding:0;display:grid;gap:3px}
.entries li{overflow-wrap:anywhere}
.entries li span{display:inline-block;min-width:5.6em;color:var(--muted)}
.entries code{font-size:11.5px}
.state{font-weight:500;color:var(--muted)}
.state.quarantined,.state.lost{color:var(--bad)}
.state.slow,.state.stale{color:var(--warn)}
@media print{.entries{display:none}.env-map .map-scroll>svg{min-width:0}}
`.replace(/\n/g, '');
