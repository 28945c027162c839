//! The HTML report in a real browser: it sorts, finds, fetches nothing, takes hostile names for text, and can be read in both
//! colour schemes and on a narrow screen.
//!
//! Needs Chromium and chromedriver; without them it is left out, unless ABSTAT_REQUIRE_BROWSER is set.

mod webdriver;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use webdriver::Browser;

/// Names that would be markup, script or requests if they were not taken for text.
const HOSTILE: [&str; 7] = [
    "X/<script>document.title='taken'</script>",
    "X/<img/src=http://127.0.0.1:9/x/onerror=alert(1)>",
    "X/\"><svg/onload=document.title='taken'>",
    "X/'\"&amp;&lt;b&gt;",
    "X/</title></style></table><h1>out",
    "X/{{7*7}}${7*7}",
    "X/漢字é|`*_",
];

fn browser() -> Option<Browser> {
    let browser = Browser::start();
    if browser.is_none() {
        assert!(std::env::var_os("ABSTAT_REQUIRE_BROWSER").is_none(), "no chromium and chromedriver in the PATH");
        eprintln!("left out: no chromium and chromedriver in the PATH");
    }
    browser
}

/// Go results: `name` at ten values around `center` (ns/op).
fn result(out: &mut String, name: &str, center: f64) {
    for step in [-5, 3, 1, -2, 4, 0, -4, 2, 5, -1] {
        let value = center * (1.0 + f64::from(step) * 0.002);
        writeln!(out, "Benchmark{name} 1000 {value:.3} ns/op {} B/op", (center / 10.0).round()).unwrap();
    }
}

/// A page of a comparison: hostile names, and numbered rows that change by their number in percent.
fn page(dir: &Path, rows: usize, more: &[&str]) -> PathBuf {
    let (mut old, mut new) = (String::new(), String::new());
    for name in HOSTILE {
        result(&mut old, name, 100.0);
        result(&mut new, name, 100.0);
    }
    for i in 0..rows {
        let center = 50.0 + (i * 37 % 1000) as f64;
        result(&mut old, &format!("Row/n={i}"), center);
        result(&mut new, &format!("Row/n={i}"), center * (1.0 + (i % 20) as f64 / 100.0));
    }
    let (a, b, html) = (dir.join("old.txt"), dir.join("new.txt"), dir.join("report.html"));
    std::fs::write(&a, old).unwrap();
    std::fs::write(&b, new).unwrap();
    let labelled = |label: &str, path: &Path| format!("{label}={}", path.display());
    let run = Command::new(env!("CARGO_BIN_EXE_abstat"))
        .args([labelled("<b>old</b>", &a), labelled("new", &b)])
        .args(["-f", "html"])
        .args(more)
        .output()
        .unwrap();
    assert!(run.status.code().is_some_and(|c| c < 2), "{}", String::from_utf8_lossy(&run.stderr));
    std::fs::write(&html, run.stdout).unwrap();
    html
}

/// First cells of the visible rows of the first table.
const NAMES: &str = "return [...document.querySelector('table.rows').tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[0].textContent)";

fn strings(v: &Value) -> Vec<String> {
    v.as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_owned()).collect()
}

/// Nothing but the page was asked for, and nothing was complained about.
fn assert_quiet(browser: &Browser) {
    let complaints = browser.log("browser");
    assert!(complaints.is_empty(), "{complaints:?}");
    let mut requests = 0;
    for entry in browser.log("performance") {
        let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
        if message["message"]["method"] == "Network.requestWillBeSent" {
            let url = message["message"]["params"]["request"]["url"].as_str().unwrap().to_owned();
            assert!(url.starts_with("file://") && url.ends_with("report.html"), "asked for {url}");
            requests += 1;
        }
    }
    assert!(requests >= 1, "the log of requests works");
}

#[test]
fn rows_sort_and_are_found() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    browser.open(&page(dir.path(), 40, &["--fail-on", "slower>5%"]));
    let as_written = strings(&browser.run(NAMES));
    assert_eq!(as_written.len(), 47);

    let click = |heading: &str| {
        let script = format!(
            "const b = [...document.querySelectorAll('table.rows')[0].querySelectorAll('th button')]\
             .find(b => b.textContent.includes('{heading}')); b.click(); return b.closest('th').getAttribute('aria-sort')"
        );
        browser.run(&script)
    };
    let numbers = |column: usize| -> Vec<f64> {
        let script = format!(
            "return [...document.querySelector('table.rows').tBodies[0].rows].map(r => Number(r.cells[{column}].dataset.v))"
        );
        browser.run(&script).as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    assert_eq!(click("change"), "ascending");
    assert!(numbers(3).is_sorted(), "{:?}", numbers(3));
    assert_ne!(strings(&browser.run(NAMES)), as_written);
    assert_eq!(click("change"), "descending");
    assert!(numbers(3).is_sorted_by(|a, b| a >= b));
    assert_eq!(click("change"), Value::Null);
    assert_eq!(strings(&browser.run(NAMES)), as_written);
    // The old center counts by its number, not by how it is written (98 ns < 1.0 µs).
    assert_eq!(click("old"), "ascending");
    assert!(numbers(1).is_sorted());
    assert_eq!(click("benchmark"), "ascending");
    let names = strings(&browser.run(NAMES));
    let at = |n: &str| names.iter().position(|x| x.starts_with(n)).unwrap();
    assert!(at("Row/n=9") < at("Row/n=10") && at("Row/n=10") < at("Row/n=39"), "{names:?}");

    let find = |text: &str| {
        browser.run(&format!(
            "const f = document.querySelector('input.find'); f.value = '{text}'; f.dispatchEvent(new Event('input'))"
        ));
        strings(&browser.run(NAMES)).len()
    };
    assert_eq!(find("row/n=3"), 11);
    assert_eq!(find("nothing like this"), 0);
    assert_eq!(find(""), 47);
    assert_quiet(&browser);
}

#[test]
fn hostile_names_are_text() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    browser.open(&page(dir.path(), 3, &[]));
    let names = strings(&browser.run(NAMES));
    for name in HOSTILE {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
    let count = |selector: &str| browser.run(&format!("return document.querySelectorAll({selector:?}).length"));
    for selector in ["img", "iframe", "object", "link", "h1 ~ h1", "main script", "main b b", "th b", "svg svg"] {
        assert_eq!(count(selector), 0, "{selector}");
    }
    assert_eq!(count("script"), 1);
    assert!(browser.run("return document.title").as_str().unwrap().starts_with("abstat: "));
    // Titles of marks hold the names too.
    let titles = strings(&browser.run("return [...document.querySelectorAll('svg title')].map(t => t.textContent)"));
    assert!(titles.iter().any(|t| t.starts_with(HOSTILE[0])), "{titles:?}");
    assert_quiet(&browser);
}

#[test]
fn both_schemes_have_contrast_and_narrow_screens_do_not_scroll_sideways() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    let html = page(dir.path(), 25, &["--fail-on", "slower>5%"]);
    // Lowest contrast between visible text and the background behind it.
    let contrast = "\
        const rgb = s => s.match(/[\\d.]+/g).map(Number);\
        const lum = c => { const f = v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 };\
            return .2126 * f(c[0]) + .7152 * f(c[1]) + .0722 * f(c[2]) };\
        const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);\
            if (c.length < 4 || c[3] > 0) return c } return [255, 255, 255] };\
        let worst = [99, ''];\
        for (const e of document.querySelectorAll('td, th, li, p, h1, h2, span, figcaption, summary, svg text')) {\
            if (!e.textContent.trim() || !e.getClientRects().length) continue;\
            const style = getComputedStyle(e), c = rgb(e instanceof SVGElement ? style.fill : style.color);\
            const [a, b] = [lum(c), lum(ground(e instanceof SVGElement ? e.closest('svg') : e))];\
            const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);\
            if (ratio < worst[0]) worst = [ratio, e.className.baseVal ?? e.className, e.textContent] }\
        return worst";
    let mut grounds = Vec::new();
    for scheme in ["light", "dark"] {
        browser.devtools(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
        for (width, height) in [(1280, 1000), (400, 800)] {
            browser.devtools(
                "Emulation.setDeviceMetricsOverride",
                json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
            );
            browser.open(&html);
            let wide =
                browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(wide, 0, "{scheme} at {width}");
            let worst = browser.run(contrast);
            assert!(worst[0].as_f64().unwrap() >= 4.5, "{scheme} at {width}: {worst}");
            if let Some(to) = std::env::var_os("ABSTAT_PICTURES") {
                let name = Path::new(&to).join(format!("page-{scheme}-{width}.png.base64"));
                std::fs::write(name, browser.screenshot()).unwrap();
            }
        }
        grounds.push(browser.run("return getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(grounds[0], grounds[1]);
}

#[test]
fn twelve_thousand_rows_stay_usable() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    browser.open(&page(dir.path(), 12_000, &["--unit", "sec/op"]));
    assert_eq!(browser.run("return document.querySelector('table.rows').tBodies[0].rows.length"), 12_007);
    let took = browser.run(
        "const b = document.querySelectorAll('th button')[3], t = performance.now(); b.click();\
         document.body.getBoundingClientRect(); return performance.now() - t",
    );
    // About a second on an idle core; the limit is for busy machines and still catches what grows with the square.
    assert!(took.as_f64().unwrap() < 30_000.0, "sorting took {took} ms");
    // Charts stay small and say what they leave out.
    let marks = browser.run("return document.querySelectorAll('svg *').length");
    assert!(marks.as_u64().unwrap() < 20_000, "{marks}");
    let captions = browser.run("return [...document.querySelectorAll('figcaption')].map(c => c.textContent).join()");
    assert!(captions.as_str().unwrap().contains(" of 12007 rows drawn"), "{captions}");
    assert_quiet(&browser);
}

#[test]
fn everything_is_there_without_scripts() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(page(dir.path(), 3, &[])).unwrap();
    let before_script = text.split("<script>").next().unwrap();
    for part in ["Row/n=2", "<svg", "faster", "</tfoot>"] {
        assert!(before_script.contains(part), "{part}");
    }
    // Buttons and the search box come with the script that serves them.
    assert!(!before_script.contains("<button") && !before_script.contains("<input"));
}
