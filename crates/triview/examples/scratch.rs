use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::composite::{Composites, Images};
use triview::estimator::{Features, Params};
use triview::learning::LogisticParams;
use triview::simulate::{Population, Preset, measure};
use triview::views::{Batch, InMemory, Schema};
fn idx(p: &str, n: usize) -> Vec<u8> { std::fs::read(format!("data/mnist/{p}")).unwrap()[n..].to_vec() }
fn images(p: &str) -> Images {
    let px = idx(&format!("{p}-images-idx3-ubyte"), 16).iter().map(|b| *b as f32 / 255.0).collect();
    Images::new(28, px, idx(&format!("{p}-labels-idx1-ubyte"), 8), 10).unwrap()
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let draws: u64 = args[2].parse().unwrap();
    let rows: usize = args[3].parse().unwrap();
    let feats: Vec<Features> = args[4].split(',').map(|f| f.parse().unwrap()).collect();
    let verbose = args.len() > 5;
    let mut cases: Vec<(String, Box<dyn Fn(u64) -> (Schema, Batch, Vec<usize>)>)> = vec![];
    for name in args[1].split(',') {
        if let Some(a) = name.strip_prefix("mnist") {
            let a: f64 = a.parse().unwrap();
            let schema = Schema::new(["a", "b", "c"].map(String::from).to_vec(), (0..10).map(|c| c.to_string()).collect()).unwrap();
            let (train, test) = (images("train"), images("t10k"));
            cases.push((name.into(), Box::new(move |d| {
                let model = LogisticParams::default().seed(d).check().unwrap().train(&Composites::draw(&train, 10000, 0.0, false, 1000 + d).unwrap());
                let c = Composites::draw(&test, rows, a, false, 5000 + d).unwrap();
                let b = model.scores(&c).unwrap();
                (schema.clone(), b, c.labels().iter().map(|l| *l as usize).collect())
            })));
        } else {
            let preset: Preset = name.parse().unwrap();
            cases.push((name.into(), Box::new(move |d| {
                let pop = Population::draw(&preset.setting(), 100 + d).unwrap();
                let (b, l) = pop.rows(rows, &mut Pcg64::seed_from_u64(d));
                (pop.schema().clone(), b, l)
            })));
        }
    }
    for (name, case) in cases {
        let mut sums = vec![(0.0, 0.0, 0.0, 0usize, 0.0f64, 0usize, 0usize, 0.0); feats.len()];
        let (mut err, mut lse, mut risk) = (0.0, 0.0, 0.0);
        for d in 0..draws {
            let (schema, batch, labels) = case(d);
            let truth = measure(&batch, &labels);
            err += truth.error_rate / draws as f64; lse += truth.standard_error / draws as f64; risk += truth.risk / draws as f64;
            let source = InMemory::new(schema, vec![batch]);
            for (f, feat) in feats.iter().enumerate() {
                let t = std::time::Instant::now();
                let s = &mut sums[f];
                let e = match Params::new().features(*feat).check().unwrap().estimate(&source) { Ok(e) => e, Err(e) => { s.6 += 1; println!("{d} {feat} {e}"); continue } };
                let z = (e.risk - truth.risk) / truth.standard_error;
                s.0 += z * z; s.1 += (e.standard_error / truth.standard_error).powi(2); s.2 += z; s.7 += (e.risk - truth.risk).powi(2);
                s.3 += (e.fit.surrogate == "pair") as usize; s.4 += t.elapsed().as_secs_f64();
                s.5 += (e.fit.features == "posterior") as usize;
                if verbose { println!("{d} {feat} z={z:.2} se/lse={:.2} {:?} {:.2?} {:?}", e.standard_error / truth.standard_error, e.fit, e.conditioning.smallest_singular_value, e.alarms); }
            }
        }
        println!("{name} err {err:.3} risk {risk:.4} lse {lse:.4}");
        for (f, feat) in feats.iter().enumerate() {
            let n = draws as f64; let s = sums[f];
            println!("  {:10} rmse {:.2} ({:.4}) mean {:+.2} jack {:.2} pair {} post {} fail {} time {:.2}", feat.name(), (s.0/n).sqrt(), (s.7/n).sqrt(), s.2/n, (s.1/n).sqrt(), s.3, s.5, s.6, s.4/n);
        }
    }
}
