names=['panel','button','badge','table','toast','drawer','avatar','field','tabs','chip','modal','stepper','tooltip','banner','card','menu','slider','switch','radio','alert','grid','list','rating','upload','crumb','pager','nav','hero','sheet','popover']
print('/*! tidewater-ui 4.2.0 | Apache-2.0 | tidewater.example */')
print('@import url("/fonts/inter.css");@font-face{font-family:"Tide Sans";src:url("/fonts/tide-sans.woff2") format("woff2");font-weight:400}')
print(':root{--tide-primary:#0b6e99;--tide-danger:#b3261e;--tide-radius:6px;--tide-space:.5rem}')
print('@keyframes tide-spin{to{transform:rotate(360deg)}}@keyframes tide-fade{from{opacity:0}to{opacity:1}}')
for i,n in enumerate(names):
    print(f'.tide-{n}{{display:{"flex" if i%2 else "grid"};gap:var(--tide-space);border-radius:var(--tide-radius);padding:{i+1}px}}.tide-{n}:hover{{background:#f{i:x}f{i:x}f{i:x}}}')
    for s in ['sm','md','lg','xl']: print(f'.tide-{n}--{s}{{padding:{i+len(s)*2}px;font-size:{10+i}px;line-height:{1+i/10:.1f};margin:{i}px auto}}')
    for t in ['primary','danger','muted']: print(f'.tide-{n}--{t}{{color:var(--tide-{t},#666);border:1px solid currentColor}}.tide-{n}--{t}:focus-visible{{outline:2px solid var(--tide-primary)}}')
for w in (480,768,1200): print(f'@media (min-width:{w}px){{'+''.join(f'.tide-{n}{{max-width:{w-40}px;grid-template-columns:repeat({w//240},1fr)}}' for n in names)+'}')
print('@media (prefers-color-scheme:dark){:root{--tide-primary:#7fd0f0}}@media print{.tide-toast,.tide-drawer{display:none!important}}')
