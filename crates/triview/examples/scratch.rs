use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::estimator::{Features, Params};
use triview::simulate::{Population, Preset, measure};
use triview::views::InMemory;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let draws: u64 = args[2].parse().unwrap();
    let rows: usize = args.get(3).map_or(20000, |s| s.parse().unwrap());
    for preset in Preset::ALL.into_iter().filter(|p| args[1].contains(p.name()) ) {
        let feats = [Features::Scores, Features::Softmax, Features::Regression, Features::Posterior, Features::Auto];
        let mut sums = vec![(0.0, 0.0, 0.0, 0usize, 0.0f64, 0usize); feats.len()];
        let mut err = 0.0;
        for d in 0..draws {
            let pop = Population::draw(&preset.setting(), 100 + d).unwrap();
            let mut rng = Pcg64::seed_from_u64(d);
            let (batch, labels) = pop.rows(rows, &mut rng);
            let truth = measure(&batch, &labels);
            err += truth.error_rate / draws as f64;
            let source = InMemory::new(pop.schema().clone(), vec![batch]);
            for (f, feat) in feats.iter().enumerate() {
                let t = std::time::Instant::now();
                let e = Params::new().features(*feat).check().unwrap().estimate(&source).unwrap();
                let z = (e.risk - truth.risk) / truth.standard_error;
                let s = &mut sums[f];
                s.0 += z * z; s.1 += (e.standard_error / truth.standard_error).powi(2); s.2 += z;
                s.3 += (e.fit.surrogate == "pair") as usize; s.4 += t.elapsed().as_secs_f64();
                s.5 += (e.fit.features == "posterior") as usize;
                if args.len() > 4 { println!("{d} {feat} z={z:.2} se/lse={:.2} {:?} {:?} {:?}", e.standard_error / truth.standard_error, e.fit, e.conditioning.smallest_singular_value, e.alarms); }
            }
        }
        println!("{preset} err {err:.3}");
        for (f, feat) in feats.iter().enumerate() {
            let n = draws as f64; let s = sums[f];
            println!("  {:10} rmse {:.2} mean {:+.2} jack {:.2} pair {} post {} time {:.2}", feat.name(), (s.0/n).sqrt(), s.2/n, (s.1/n).sqrt(), s.3, s.5, s.4/n);
        }
    }
}
