// The style sheet of pages. Colours are custom properties, set twice: for light pages and dark ones.
#include "chart/page.h"

namespace leeway::chart {
namespace {

constexpr std::string_view kStyle =
    R"css(:root{--page:#f5f6f8;--sheet:#fff;--ink:#17202b;--soft:#5d6874;--line:#dfe3e8;--link:#1f5fa8;
--good:#00845f;--warning:#a86a00;--bad:#c0392b;--zebra:#f8f9fb}
@media (prefers-color-scheme:dark){:root{--page:#0f141a;--sheet:#171e26;--ink:#e3e9ef;--soft:#98a4b1;--line:#2a343f;--link:#7db4f0;
--good:#35c496;--warning:#e6bc45;--bad:#ff7a6b;--zebra:#1b232c}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);line-height:1.5;font-size:15px;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","DejaVu Sans",Arial,sans-serif}
header,.body,footer{max-width:1040px;margin:0 auto;padding:0 20px}
header{padding-top:32px;padding-bottom:20px}
h1{font-size:26px;line-height:1.25;margin:0;letter-spacing:-.01em;overflow-wrap:anywhere}
header p{margin:6px 0 0;color:var(--soft);overflow-wrap:anywhere}
.body{display:grid;grid-template-columns:172px minmax(0,1fr);gap:28px}
nav ul{list-style:none;margin:0;padding:0;position:sticky;top:20px;font-size:14px}
nav a{display:block;padding:4px 10px;border-left:2px solid var(--line);color:var(--soft);text-decoration:none;overflow-wrap:anywhere}
nav a:hover,nav a:focus-visible{color:var(--link);border-left-color:var(--link)}
section{margin:0 0 36px;scroll-margin-top:16px}
h2{font-size:19px;line-height:1.3;margin:0 0 12px;overflow-wrap:anywhere}
p{margin:0 0 14px;max-width:74ch;overflow-wrap:anywhere}
.note,figcaption{color:var(--soft);font-size:13px}
.text.good,.text.warning,.text.bad{background:var(--sheet);border:1px solid var(--line);border-left:4px solid;border-radius:6px;padding:8px 12px;max-width:none}
.text.good{border-left-color:var(--good)}.text.warning{border-left-color:var(--warning)}.text.bad{border-left-color:var(--bad)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:12px;margin:0 0 18px}
.card{background:var(--sheet);border:1px solid var(--line);border-radius:8px;padding:10px 12px 12px;min-width:0}
.card dt{color:var(--soft);font-size:13px;overflow-wrap:anywhere}
.card dd{margin:0;font-size:22px;font-weight:600;line-height:1.3;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.card.long dd{font-size:17px;line-height:1.35;padding-top:3px}
.card dd.note,.card.long dd.note{padding-top:0;font-size:12.5px;font-weight:400}
.card.good dd:not(.note){color:var(--good)}.card.warning dd:not(.note){color:var(--warning)}.card.bad dd:not(.note){color:var(--bad)}
.figures{display:flex;flex-wrap:wrap;gap:16px;margin:0 0 18px}
figure{margin:0;flex:0 1 auto;min-width:0;max-width:100%}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--sheet)}
.scroll svg.lw{display:block;width:100%;height:auto}
.narrow{display:none}
@media (max-width:700px){.scroll.wide{display:none}.narrow{display:block}}
figcaption{margin-top:6px;max-width:74ch}
.table{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--sheet);margin:0 0 10px}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:6px 12px;text-align:left;border-bottom:1px solid var(--line);vertical-align:baseline}
th{font-weight:600;color:var(--soft);font-size:13px;white-space:nowrap}
td:not(.num):not(:first-child){min-width:20ch}
.num{text-align:right;white-space:nowrap}
tbody tr:nth-child(even){background:var(--zebra)}
tbody tr:last-child td{border-bottom:0}
details{background:var(--sheet);border:1px solid var(--line);border-radius:8px;margin:0 0 14px}
summary{cursor:pointer;padding:8px 14px;font-weight:500;overflow-wrap:anywhere}
pre{margin:0;padding:10px 14px 14px;overflow-x:auto;border-top:1px solid var(--line);font-size:13px;line-height:1.45;
font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
footer{color:var(--soft);font-size:13px;padding-top:16px;padding-bottom:32px;overflow-wrap:anywhere}
@media (max-width:900px){
.body{display:block}
nav{margin:0 -20px 20px;padding:0 20px;position:sticky;top:0;z-index:1;background:var(--page);border-bottom:1px solid var(--line)}
nav ul{position:static;display:flex;overflow-x:auto}
nav a{white-space:nowrap;border-left:0;border-bottom:2px solid transparent;padding:8px 10px}
nav a:hover,nav a:focus-visible{border-bottom-color:var(--link)}
section{scroll-margin-top:56px}
header{padding-top:20px}
header,.body,footer{padding-left:16px;padding-right:16px}
nav{margin:0 -16px 20px;padding:0 6px}}
@media print{
:root{--page:#fff;--sheet:#fff;--ink:#000;--soft:#444;--line:#ccc;--zebra:#fff}
body{font-size:11pt}
nav{display:none}
.body{display:block}
header,.body,footer{max-width:none;padding-left:0;padding-right:0}
figure,.card,tr,details{break-inside:avoid}
h2{break-after:avoid}
.half{flex-basis:calc(50% - 8px)!important}
.scroll,.table{overflow:visible}
.scroll>div{min-width:0!important}
details::details-content{content-visibility:visible;height:auto}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css";

}  // namespace

std::string_view PageStyle() { return kStyle; }

}  // namespace leeway::chart
